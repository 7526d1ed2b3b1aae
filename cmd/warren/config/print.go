package config

import (
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Print writes the settings as a file that Load takes, each with what it is for.
func (c *Config) Print(w io.Writer) error {
	var text strings.Builder
	group := ""
	for _, s := range c.settings() {
		name, indent := s.key, ""
		if above, below, nested := strings.Cut(s.key, "."); nested {
			if above != group {
				group = above
				fmt.Fprintf(&text, "\n%s:\n", group)
			}
			name, indent = below, "  "
		}
		value, err := yaml.Marshal(inline(s.get()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s# %s; %s\n%s%s: %s", indent, s.usage, s.env(), indent, name, value)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// inline makes YAML write a list on one line.
func inline(v any) any {
	list, ok := v.([]string)
	if !ok {
		return v
	}
	node := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, s := range list {
		node.Content = append(node.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s})
	}
	return node
}
