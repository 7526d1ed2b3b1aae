package catalog

import (
	"slices"
	"testing"
)

func TestKinds(t *testing.T) {
	for k := ContentTooLarge; k <= PreconditionFailed; k++ {
		if k.Hard() {
			t.Errorf("kind %d closes the connection", k)
		}
	}
	for k := ConnectionForced; k <= Internal; k++ {
		if !k.Hard() {
			t.Errorf("kind %d closes the channel only", k)
		}
	}
}

// TestMissing: what is not there is neither deleted nor given anything.
func TestMissing(t *testing.T) {
	s := withVHost(t)
	for _, c := range []struct {
		cmd  Command
		kind Kind
		text string
	}{
		{DeleteVHost{"v"}, NotAllowed, "vhost v not found"},
		{DeleteUser{"u"}, NotFound, "no user 'u'"},
		{PutPermission{Permission{User: "u", VHost: "/"}}, NotFound, "no user 'u'"},
		{PutPermission{Permission{User: "root", VHost: "v"}}, NotAllowed, "vhost v not found"},
		{PutTopicPermission{TopicPermission{User: "u", VHost: "/"}}, NotFound, "no user 'u'"},
		{DeletePermission{"root", "v"}, NotFound, "no permissions of user 'root' in vhost 'v'"},
		{DeleteTopicPermission{"root", "/", ""}, NotFound, "no topic permissions of user 'root' in vhost '/'"},
		{PutPolicy{Policy{VHost: "v", Name: "p"}}, NotAllowed, "vhost v not found"},
		{DeletePolicy{"/", "p", false}, NotFound, "no policy 'p' in vhost '/'"},
		{PutParameter{Parameter{Component: "c", VHost: "v", Name: "n"}}, NotAllowed, "vhost v not found"},
		{DeleteParameter{"c", "/", "n"}, NotFound, "no parameter 'n' of component 'c' in vhost '/'"},
		{DeclareExchange{VHost: "v", Name: "x", Type: "direct"}, NotAllowed, "vhost v not found"},
		{DeleteExchange{VHost: "v", Name: "x"}, NotAllowed, "vhost v not found"},
		{DeleteQueue{VHost: "v", Name: "q"}, NotAllowed, "vhost v not found"},
		{Bind{VHost: "v", Source: "x", Destination: "q"}, NotAllowed, "vhost v not found"},
		{PutVHost{}, PreconditionFailed, "a vhost name must not be empty"},
		{PutUser{}, PreconditionFailed, "a user name must not be empty"},
		{PutVHost{VHost{Name: "v", DefaultQueueType: "fast"}}, PreconditionFailed, "unsupported queue type 'fast'"},
		{PutUser{User{Name: "u", PasswordHash: "x", Hashing: "rot13"}}, PreconditionFailed, "unknown hashing algorithm 'rot13'"},
	} {
		wantRefused(t, s, c.cmd, c.kind, c.text)
	}
}

// TestPutAndDelete replaces and deletes a record of every kind that has such commands.
func TestPutAndDelete(t *testing.T) {
	s := withVHost(t)
	before := dump(&s.View, true)
	for _, c := range []struct{ put, again, del Command }{
		{PutVHost{VHost{Name: "v"}}, PutVHost{VHost{Name: "v", Description: "d"}}, DeleteVHost{"v"}},
		{PutUser{User{Name: "u"}}, PutUser{User{Name: "u", Tags: []string{"management"}}}, DeleteUser{"u"}},
		{
			PutTopicPermission{TopicPermission{User: "root", VHost: "/", Exchange: "amq.topic"}},
			PutTopicPermission{TopicPermission{User: "root", VHost: "/", Exchange: "amq.topic", Write: "^a"}},
			DeleteTopicPermission{"root", "/", "amq.topic"},
		},
		{PutPolicy{Policy{VHost: "/", Name: "p"}}, PutPolicy{Policy{VHost: "/", Name: "p", Priority: 1}}, DeletePolicy{"/", "p", false}},
		{
			PutPolicy{Policy{VHost: "/", Name: "p", Operator: true}}, PutPolicy{Policy{VHost: "/", Name: "p", Operator: true, Priority: 1}},
			DeletePolicy{"/", "p", true},
		},
		{
			PutParameter{Parameter{Component: "c", Name: "n", Value: "1"}}, PutParameter{Parameter{Component: "c", Name: "n", Value: int64(2)}},
			DeleteParameter{"c", "", "n"},
		},
	} {
		if r := apply(t, s, c.put); !r.Created {
			t.Errorf("%+v: not created", c.put)
		}
		first := dump(&s.View, true)
		r := apply(t, s, c.again)
		if second := dump(&s.View, true); r.Created || len(second) != len(first) || slices.Equal(first, second) {
			t.Errorf("%+v: %+v", c.again, r)
		}
		apply(t, s, c.del)
		if after := dump(&s.View, true); !slices.Equal(before, after) {
			t.Errorf("after %+v: %q", c.del, after)
		}
	}
}

// TestPolicyNames: a user's and an operator's policy may have one name.
func TestPolicyNames(t *testing.T) {
	s := withVHost(t)
	apply(t, s, PutPolicy{Policy{VHost: "/", Name: "p", Operator: true}}, PutPolicy{Policy{VHost: "/", Name: "p"}},
		PutPolicy{Policy{VHost: "/", Name: "o", Operator: true}})
	var got []string
	for p := range s.Policies("/") {
		got = append(got, p.Name+map[bool]string{true: "!"}[p.Operator])
	}
	if !slices.Equal(got, []string{"o!", "p", "p!"}) {
		t.Errorf("policies are %q", got)
	}
	apply(t, s, DeletePolicy{"/", "p", true})
	if n := s.policies.Len(); n != 2 {
		t.Errorf("%d policies are left", n)
	}
	if _, err := s.Apply(PutPolicy{Policy{VHost: "/", Name: "p", Pattern: "("}}); err == nil {
		t.Error("a pattern that is no regular expression was taken")
	}
}

func TestTags(t *testing.T) {
	u := User{Tags: []string{"management", "administrator"}}
	if !u.HasTag("administrator") || u.HasTag("monitoring") {
		t.Error("HasTag is wrong")
	}
}
