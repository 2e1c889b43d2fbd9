// Package config reads settings from defaults, a TOML file, the environment and flags, each over the one before, and
// remembers for each setting where its value came from.
//
// A command declares its settings as a section: a struct whose fields hold the defaults.
//
//	settings := struct {
//		Listen string          `toml:"listen" doc:"Address of the HTTP server"`
//		Wait   config.Duration `toml:"wait" doc:"How long to wait for a result"`
//	}{Listen: "127.0.0.1:9100", Wait: config.Duration(time.Minute)}
//	schema.Section("gateway", &settings)
//
// Its keys are then gateway.listen and gateway.wait in the file, PROOFMILL_GATEWAY_LISTEN and PROOFMILL_GATEWAY_WAIT in
// the environment, and the flags that [Schema.Flag] binds to them. The tag secret:"true" hides a value when settings are
// shown. A section with a method Validate() error is asked after reading.
//
// Reading is strict: an unknown key, a wrong type or a bad value is one error that names the place.
package config
