package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warrenmq/warren/admin/api"
)

// listOf asks writeList for a list of objects with the given names; depth counts down.
func listOf(t *testing.T, query string, names ...string) (string, error) {
	t.Helper()
	items := make([]api.Queue, len(names))
	for i, name := range names {
		items[i] = api.Queue{Name: name, Messages: int64(10 * (len(names) - i))}
		if i%2 == 1 {
			n := int64(i)
			items[i].MessageStats = &api.MessageStats{Publish: &n, PublishDetails: &api.Rate{Rate: float64(i)}}
		}
	}
	w := httptest.NewRecorder()
	r := &request{Request: httptest.NewRequest(http.MethodGet, "/api/queues?"+query, nil)}
	err := writeList(w, r, items, func(q *api.Queue) string { return q.Name })
	return w.Body.String(), err
}

// namesIn returns the names of a list or of a page's items, in their order.
func namesIn(t *testing.T, body string) string {
	t.Helper()
	var items []struct{ Name string }
	if strings.HasPrefix(body, "{") {
		var page struct{ Items json.RawMessage }
		if err := json.Unmarshal([]byte(body), &page); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		body = string(page.Items)
	}
	if err := json.Unmarshal([]byte(body), &items); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	var names []string
	for _, item := range items {
		names = append(names, item.Name)
	}
	return strings.Join(names, " ")
}

func TestListOrderAndPages(t *testing.T) {
	for _, tc := range []struct{ query, want string }{
		{"", "a b C d"},
		{"sort_reverse=true", "d C b a"},
		{"sort=messages", "d C b a"},
		{"sort=messages&sort_reverse=true", "a b C d"},
		{"sort=name", "C a b d"},
		{"sort=message_stats.publish_details.rate,name", "C a b d"},
		{"sort=no.such.thing", "a b C d"},
		{"page=1", "a b C d"},
		{"page=1&page_size=3", "a b C"},
		{"page=2&page_size=3", "d"},
		{"page=3&page_size=2", ""},
		{"page=1&name=c", "C"},
		{"page=1&name=[ab]", ""},
		{"page=1&name=[AB]&use_regex=true", "a b"},
		{"page=1&pagination=false&name=^(a|d)$&use_regex=true&page_size=100", "a d"},
		{"page=2&page_size=1&sort=messages", "C"},
		{"name=a", "a b C d"},
	} {
		body, err := listOf(t, tc.query, "a", "b", "C", "d")
		if err != nil {
			t.Errorf("%q: %v", tc.query, err)
		} else if got := namesIn(t, body); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.query, got, tc.want)
		}
	}
}

func TestListEnvelope(t *testing.T) {
	body, err := listOf(t, "page=2&page_size=2&name=q&columns=name", "q1", "x", "q2", "q3")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"filtered_count":3,"item_count":1,"items":[{"name":"q3"}],"page":2,"page_count":2,"page_size":2,"total_count":4}`
	if body != want {
		t.Errorf("got\n%s\nwant\n%s", body, want)
	}
	if body, _ := listOf(t, ""); body != "[]" {
		t.Errorf("no objects: got %s, want []", body)
	}
	if body, _ := listOf(t, "page=1"); !strings.Contains(body, `"items":[]`) {
		t.Errorf("no objects on a page: got %s", body)
	}
}

func TestListColumns(t *testing.T) {
	body, err := listOf(t, "columns=name,message_stats.publish_details.rate,message_stats.publish,none.such", "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"name":"a"},{"message_stats":{"publish":1,"publish_details":{"rate":1}},"name":"b"}]`
	if body != want {
		t.Errorf("got\n%s\nwant\n%s", body, want)
	}
}

func TestListRefuses(t *testing.T) {
	for _, tc := range []struct{ query, code string }{
		{"page=0", "invalid_pagination_parameters"},
		{"page=x", "invalid_pagination_parameters"},
		{"page=", "invalid_pagination_parameters"},
		{"page=1&page_size=501", "invalid_pagination_parameters"},
		{"page=1&page_size=0", "invalid_pagination_parameters"},
		{"page=4&page_size=1", "page_out_of_range"},
		{"page=9223372036854775807&page_size=500", "page_out_of_range"},
		{"page=1&use_regex=true&name=(", "bad_request"},
	} {
		_, err := listOf(t, tc.query, "a", "b")
		if f, ok := failureOf(err); !ok || f.status != http.StatusBadRequest || f.code != tc.code {
			t.Errorf("%q: got %v, want 400 %s", tc.query, err, tc.code)
		}
	}
}

// TestListBigNumbers checks that sorting does not squeeze counters through a float.
func TestListBigNumbers(t *testing.T) {
	w := httptest.NewRecorder()
	r := &request{Request: httptest.NewRequest(http.MethodGet, "/?sort=name", nil)}
	items := []api.Queue{{Name: "q", Messages: 1<<62 + 1}}
	if err := writeList(w, r, items, func(q *api.Queue) string { return q.Name }); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf(`"messages":%d`, items[0].Messages); !strings.Contains(w.Body.String(), want) {
		t.Errorf("no %s in %s", want, w.Body.String())
	}
}

func TestReducedKeepsWhole(t *testing.T) {
	object := map[string]any{"a": map[string]any{"b": 1, "c": 2}, "d": 3}
	got, err := reduced(object, []string{"a", "d.x"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"a": map[string]any{"b": 1, "c": 2}, "d": 3}, got); diff != "" {
		t.Error(diff)
	}
}
