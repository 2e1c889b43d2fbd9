// Package params finds the parameter files that a service uses. They lie in one directory, under the names that all Filecoin
// programs share. Parameters for tests carry a marker and are used only where the configuration allows it; nothing here makes any.
package params
