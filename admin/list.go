package admin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/warrenmq/warren/admin/api"
)

const (
	defaultPageSize = 100
	maxPageSize     = 500
)

// writeList answers with a list as the query asks for it. nameOf gives what the name filter looks at.
func writeList[T any](w http.ResponseWriter, r *request, items []T, nameOf func(*T) string) error {
	query := r.URL.Query()
	page, err := pageOf(query)
	if err != nil {
		return err
	}
	objects := make([]any, 0, len(items))
	for i := range items {
		if page == nil || page.matches(nameOf(&items[i])) {
			objects = append(objects, &items[i])
		}
	}
	if order := words(query.Get("sort")); len(order) > 0 {
		if objects, err = sortedBy(objects, order); err != nil {
			return err
		}
	}
	if query.Get("sort_reverse") == "true" {
		slices.Reverse(objects)
	}
	filtered := len(objects)
	if page != nil {
		if objects, err = page.cut(objects); err != nil {
			return err
		}
	}
	if columns := words(query.Get("columns")); len(columns) > 0 {
		for i := range objects {
			if objects[i], err = reduced(objects[i], columns); err != nil {
				return err
			}
		}
	}
	if page == nil {
		writeJSON(w, http.StatusOK, objects)
		return nil
	}
	writeJSON(w, http.StatusOK, api.Page{
		FilteredCount: filtered, ItemCount: len(objects), Items: objects,
		Page: page.number, PageSize: page.size, PageCount: (filtered + page.size - 1) / page.size, TotalCount: len(items),
	})
	return nil
}

// writeObject answers with one object, reduced to the columns that the query asks for.
func writeObject(w http.ResponseWriter, r *request, object any) (err error) {
	if columns := words(r.URL.Query().Get("columns")); len(columns) > 0 {
		if object, err = reduced(object, columns); err != nil {
			return err
		}
	}
	writeJSON(w, http.StatusOK, object)
	return nil
}

// words splits a parameter that is a list.
func words(s string) []string { return strings.FieldsFunc(s, func(c rune) bool { return c == ',' }) }

// page is the part of a list that the query asks for.
type page struct {
	number, size int
	part         string         // lower case; "" matches all
	pattern      *regexp.Regexp // if not nil, instead of part
}

// pageOf returns nil when the query wants the whole list.
func pageOf(query url.Values) (*page, error) {
	if !query.Has("page") {
		return nil, nil
	}
	p := &page{size: defaultPageSize}
	var err error
	if p.number, err = strconv.Atoi(query.Get("page")); err == nil && query.Has("page_size") {
		p.size, err = strconv.Atoi(query.Get("page_size"))
	}
	if err != nil || p.number < 1 || p.size < 1 || p.size > maxPageSize {
		return nil, &failure{status: http.StatusBadRequest, code: "invalid_pagination_parameters",
			reason: fmt.Sprintf("Invalid pagination parameters: page number %s, page size %s", query.Get("page"), query.Get("page_size"))}
	}
	name := query.Get("name")
	if query.Get("use_regex") == "true" && name != "" {
		if p.pattern, err = regexp.Compile("(?i)" + name); err != nil {
			return nil, badRequest(fmt.Sprintf("name is not a regular expression: %v", err))
		}
		return p, nil
	}
	p.part = strings.ToLower(name)
	return p, nil
}

func (p *page) matches(name string) bool {
	if p.pattern != nil {
		return p.pattern.MatchString(name)
	}
	return strings.Contains(strings.ToLower(name), p.part)
}

// cut returns the page's objects. As in RabbitMQ the page right behind the last full one is empty, not an error.
func (p *page) cut(objects []any) ([]any, error) {
	if p.number-1 > len(objects)/p.size {
		return nil, &failure{status: http.StatusBadRequest, code: "page_out_of_range",
			reason: fmt.Sprintf("Page out of range, page: %d page size: %d, len: %d", p.number, p.size, len(objects))}
	}
	start := (p.number - 1) * p.size
	return objects[start:min(start+p.size, len(objects))], nil
}

// sortedBy returns the objects as maps, sorted by the values at the dotted paths. What is missing counts as 0.
func sortedBy(objects []any, paths []string) ([]any, error) {
	type keyed struct {
		keys   []any
		object any
	}
	all := make([]keyed, len(objects))
	for i, object := range objects {
		m, err := asMap(object)
		if err != nil {
			return nil, err
		}
		all[i] = keyed{make([]any, len(paths)), m}
		for j, path := range paths {
			all[i].keys[j] = valueAt(m, path)
		}
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return slices.CompareFunc(a.keys, b.keys, compareValues) })
	sorted := make([]any, len(all))
	for i := range all {
		sorted[i] = all[i].object
	}
	return sorted, nil
}

// compareValues orders numbers before booleans, before everything else by its text.
func compareValues(a, b any) int {
	rank := func(v any) int {
		switch v.(type) {
		case json.Number:
			return 0
		case bool:
			return 1
		}
		return 2
	}
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	if x, ok := a.(json.Number); ok {
		fx, _ := x.Float64()
		fy, _ := b.(json.Number).Float64()
		return cmp.Compare(fx, fy)
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

func valueAt(object map[string]any, path string) any {
	var value any = object
	for name := range strings.SplitSeq(path, ".") {
		m, ok := value.(map[string]any)
		if !ok {
			return json.Number("0")
		}
		if value, ok = m[name]; !ok {
			return json.Number("0")
		}
	}
	return value
}

// reduced returns what the dotted paths name of an object.
func reduced(object any, paths []string) (map[string]any, error) {
	m, err := asMap(object)
	if err != nil {
		return nil, err
	}
	tree := map[string]any{}
	for _, path := range paths {
		copyPath(tree, m, strings.Split(path, "."))
	}
	return tree, nil
}

func copyPath(dst, src map[string]any, path []string) {
	value, ok := src[path[0]]
	if !ok {
		return
	}
	below, nested := value.(map[string]any)
	if len(path) == 1 || !nested {
		dst[path[0]] = value
		return
	}
	sub, ok := dst[path[0]].(map[string]any)
	if !ok {
		sub = map[string]any{}
		dst[path[0]] = sub
	}
	copyPath(sub, below, path[1:])
}

// asMap turns an object of package api into what its JSON says.
func asMap(object any) (map[string]any, error) {
	if m, ok := object.(map[string]any); ok {
		return m, nil
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var m map[string]any
	if err := decoder.Decode(&m); err != nil {
		return nil, err
	}
	return m, nil
}
