//go:build !confirmearly

package queue

// confirmEarly is false in every build that is used. See confirmearly_on.go.
const confirmEarly = false

func holdBack() {}
