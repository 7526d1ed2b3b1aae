package admin

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

func TestPlain(t *testing.T) {
	text, err := json.Marshal(plainTable(map[string]any{
		"bool": true, "bytes": []byte("abc"), "int8": int8(-1), "long": int64(1 << 60), "uint": uint32(7), "none": nil,
		"time": time.Unix(5, 0), "float": 1.5, "nan": math.NaN(), "single": float32(math.Inf(1)),
		"list": []any{int32(1), map[string]any{"x": []byte("y")}}, "odd": struct{ A, B int }{1, 2},
	}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"bool":true,"bytes":"abc","float":1.5,"int8":-1,"list":[1,{"x":"y"}],"long":1152921504606846976,"nan":"NaN","none":null,"odd":"{1 2}","single":"+Inf","time":5,"uint":7}`
	if string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if text, _ := json.Marshal(plainTable(nil)); string(text) != "{}" {
		t.Errorf("no table: got %s, want {}", text)
	}
}
