package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/warrenmq/warren/cmd/warren/config"
)

// settingFlags says which flag gives which setting.
var settingFlags = map[string]string{
	"data_dir":    "data-dir",
	"amqp.listen": "amqp-listen",
	"http.listen": "http-listen",
	"log.level":   "log-level",
}

// addConfigFlags gives a command the flags that loadConfig reads.
func addConfigFlags(cmd *cobra.Command) {
	d := config.Default()
	flags := cmd.Flags()
	flags.String("config", "", "configuration `FILE` (YAML); "+config.EnvFile)
	flags.String("data-dir", d.DataDir, "`DIR` that holds the logs")
	flags.StringArray("amqp-listen", d.AMQP.Listen, "`HOST:PORT` for AMQP clients; may be repeated")
	flags.StringArray("http-listen", d.HTTP.Listen, "`HOST:PORT` for the HTTP API and metrics; may be repeated")
	flags.String("log-level", d.Log.Level, "least `LEVEL` that is logged: debug, info, warn, error")
}

// flagsOf returns the command's flags by setting.
func flagsOf(cmd *cobra.Command) map[string]*pflag.Flag {
	flags := map[string]*pflag.Flag{}
	for key, name := range settingFlags {
		if flag := cmd.Flags().Lookup(name); flag != nil {
			flags[key] = flag
		}
	}
	return flags
}
