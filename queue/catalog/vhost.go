package catalog

import "slices"

// PutVHost makes a vhost with its predeclared exchanges, or changes its description and the like.
type PutVHost struct{ VHost VHost }

// DeleteVHost deletes a vhost with everything in it.
type DeleteVHost struct{ Name string }

// PutPolicy makes or replaces a policy.
type PutPolicy struct{ Policy Policy }

// DeletePolicy deletes a policy.
type DeletePolicy struct {
	VHost, Name string
	Operator    bool
}

// PutParameter makes or replaces a runtime parameter.
type PutParameter struct{ Parameter Parameter }

// DeleteParameter deletes a runtime parameter.
type DeleteParameter struct{ Component, VHost, Name string }

func (c PutVHost) apply(s *State, r *Result) error {
	h := c.VHost
	if h.Name == "" {
		return refuse(PreconditionFailed, "a vhost name must not be empty")
	}
	if t := h.DefaultQueueType; t != "" && !isQueueType(t) {
		return refuse(PreconditionFailed, "unsupported queue type '%s'", t)
	}
	r.Created = s.VHost(h.Name) == nil
	s.put(r, &h)
	if r.Created {
		for _, x := range predeclared(h.Name) {
			s.put(r, x)
		}
	}
	return nil
}

func (c DeleteVHost) apply(s *State, r *Result) error {
	h := s.VHost(c.Name)
	if h == nil {
		return NoVHost(c.Name)
	}
	if h.Protected {
		return refuse(PreconditionFailed, "vhost '%s' is protected from deletion", c.Name)
	}
	for _, b := range slices.Collect(s.Bindings(c.Name)) {
		s.del(r, b)
	}
	for _, q := range slices.Collect(s.Queues(c.Name)) {
		s.del(r, q)
	}
	for _, x := range slices.Collect(s.Exchanges(c.Name)) {
		s.del(r, x)
	}
	for _, p := range slices.Collect(s.Policies(c.Name)) {
		s.del(r, p)
	}
	for _, p := range slices.Collect(s.Parameters("", c.Name)) {
		s.del(r, p)
	}
	s.deletePermissions(r, func(_, vhost string) bool { return vhost == c.Name })
	s.del(r, h)
	return nil
}

func (c PutPolicy) apply(s *State, r *Result) error {
	p := c.Policy
	if err := s.inVHost(p.VHost); err != nil {
		return err
	}
	if err := checkTable(p.Definition); err != nil {
		return err
	}
	if _, err := s.patterns.compile(p.Pattern); err != nil {
		return refuse(PreconditionFailed, "invalid pattern of policy '%s': %v", p.Name, err)
	}
	r.Created = get(s.policies, &p) == nil
	s.put(r, &p)
	return nil
}

func (c DeletePolicy) apply(s *State, r *Result) error {
	p := get(s.policies, &Policy{VHost: c.VHost, Name: c.Name, Operator: c.Operator})
	if p == nil {
		return refuse(NotFound, "no policy '%s' in vhost '%s'", c.Name, c.VHost)
	}
	s.del(r, p)
	return nil
}

func (c PutParameter) apply(s *State, r *Result) error {
	p := c.Parameter
	if p.VHost != "" {
		if err := s.inVHost(p.VHost); err != nil {
			return err
		}
	}
	if err := checkValue(p.Value); err != nil {
		return err
	}
	r.Created = get(s.parameters, &p) == nil
	s.put(r, &p)
	return nil
}

func (c DeleteParameter) apply(s *State, r *Result) error {
	p := get(s.parameters, &Parameter{Component: c.Component, VHost: c.VHost, Name: c.Name})
	if p == nil {
		return refuse(NotFound, "no parameter '%s' of component '%s' in vhost '%s'", c.Name, c.Component, c.VHost)
	}
	s.del(r, p)
	return nil
}
