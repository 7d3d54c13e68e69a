package telemetry

import (
	"maps"
	"runtime"
	"slices"
	"strings"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	otlpresource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
)

// resource is who sends: this workbench.
type resource struct {
	message *otlpresource.Resource
	scope   *common.InstrumentationScope
	mask    func(string) string // see Options
}

// newResource describes this workbench. instance distinguishes it from others, whose totals must not be mixed up.
func newResource(options *Options, instance string) *resource {
	settings, version := &options.Settings, options.Version
	attributes := map[string]string{
		"service.version": version, "service.instance.id": instance,
		"telemetry.sdk.name": "mcp-workbench", "telemetry.sdk.language": "go", "telemetry.sdk.version": version, "os.type": runtime.GOOS,
	}
	maps.Copy(attributes, settings.Resource)
	attributes["service.name"] = settings.Service
	r := &resource{message: new(otlpresource.Resource), mask: options.Mask, scope: &common.InstrumentationScope{Name: "mcp-workbench", Version: version}}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		r.message.Attributes = append(r.message.Attributes, text(name, attributes[name]))
	}
	return r
}

// maxText bounds the bytes of an attribute; the rest of a longer text is cut off.
const maxText = 256

// clean returns a text that can be sent.
func clean(value string) string { return strings.ToValidUTF8(value[:min(len(value), maxText)], "") }

func text(name, value string) *common.KeyValue {
	return &common.KeyValue{Key: clean(name), Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: clean(value)}}}
}

func number(name string, value int64) *common.KeyValue {
	return &common.KeyValue{Key: name, Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: value}}}
}
