package catalog

import "slices"

// PutUser makes or replaces a user.
type PutUser struct{ User User }

// DeleteUser deletes a user with its permissions. Its open connections are the caller's business.
type DeleteUser struct{ Name string }

// PutPermission gives a user access to a vhost.
type PutPermission struct{ Permission Permission }

// DeletePermission takes it away.
type DeletePermission struct{ User, VHost string }

// PutTopicPermission limits a user on a topic exchange.
type PutTopicPermission struct{ Permission TopicPermission }

// DeleteTopicPermission takes the limit away, on all exchanges of the vhost if Exchange is "".
type DeleteTopicPermission struct{ User, VHost, Exchange string }

func (c PutUser) apply(s *State, r *Result) error {
	u := c.User
	switch {
	case u.Name == "":
		return refuse(PreconditionFailed, "a user name must not be empty")
	case u.PasswordHash != "" && digest(u.Hashing, nil, "") == nil:
		return refuse(PreconditionFailed, "unknown hashing algorithm '%s'", u.Hashing)
	}
	r.Created = s.User(u.Name) == nil
	s.put(r, &u)
	return nil
}

func (c DeleteUser) apply(s *State, r *Result) error {
	u := s.User(c.Name)
	if u == nil {
		return noUser(c.Name)
	}
	s.deletePermissions(r, func(user, _ string) bool { return user == c.Name })
	s.del(r, u)
	return nil
}

func noUser(name string) *Error { return refuse(NotFound, "no user '%s'", name) }

// deletePermissions deletes the permissions and topic permissions concerned.
func (s *State) deletePermissions(r *Result, concerned func(user, vhost string) bool) {
	for _, p := range slices.Collect(s.Permissions()) {
		if concerned(p.User, p.VHost) {
			s.del(r, p)
		}
	}
	for _, p := range slices.Collect(s.TopicPermissions()) {
		if concerned(p.User, p.VHost) {
			s.del(r, p)
		}
	}
}

// subject refuses permissions for a user or vhost that does not exist.
func (s *State) subject(user, vhost string) error {
	if s.User(user) == nil {
		return noUser(user)
	}
	return s.inVHost(vhost)
}

func (c PutPermission) apply(s *State, r *Result) error {
	if err := s.subject(c.Permission.User, c.Permission.VHost); err != nil {
		return err
	}
	p, err := s.patterns.permission(c.Permission)
	if err != nil {
		return refuse(PreconditionFailed, "invalid permission of user '%s' in vhost '%s': %v",
			c.Permission.User, c.Permission.VHost, err)
	}
	r.Created = s.Permission(p.User, p.VHost) == nil
	s.put(r, p)
	return nil
}

func (c DeletePermission) apply(s *State, r *Result) error {
	p := s.Permission(c.User, c.VHost)
	if p == nil {
		return refuse(NotFound, "no permissions of user '%s' in vhost '%s'", c.User, c.VHost)
	}
	s.del(r, p)
	return nil
}

func (c PutTopicPermission) apply(s *State, r *Result) error {
	p := c.Permission
	if err := s.subject(p.User, p.VHost); err != nil {
		return err
	}
	for _, expr := range []string{p.Write, p.Read} {
		if _, err := s.patterns.compile(expr); err != nil {
			return refuse(PreconditionFailed, "invalid topic permission of user '%s' in vhost '%s': %v", p.User, p.VHost, err)
		}
	}
	r.Created = get(s.topicPermissions, &p) == nil
	s.put(r, &p)
	return nil
}

func (c DeleteTopicPermission) apply(s *State, r *Result) error {
	for _, p := range slices.Collect(s.TopicPermissions()) {
		if p.User == c.User && p.VHost == c.VHost && (c.Exchange == "" || p.Exchange == c.Exchange) {
			s.del(r, p)
		}
	}
	if len(r.Changes) == 0 {
		return refuse(NotFound, "no topic permissions of user '%s' in vhost '%s'", c.User, c.VHost)
	}
	return nil
}
