package main

import (
	"io"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/warrenmq/warren/cmd/warren/config"
)

// newLogger returns the logger of a broker: one line per event, on w.
func newLogger(c config.Log, w io.Writer) *zap.Logger {
	level, err := zapcore.ParseLevel(c.Level)
	if err != nil {
		level = zapcore.InfoLevel // the settings have been checked; a logger must not be missing
	}
	shape := zap.NewProductionEncoderConfig()
	shape.TimeKey = "time"
	shape.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	shape.EncodeDuration = zapcore.StringDurationEncoder
	encoder := zapcore.NewJSONEncoder(shape)
	if c.Format == "console" {
		encoder = zapcore.NewConsoleEncoder(shape)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), level))
}
