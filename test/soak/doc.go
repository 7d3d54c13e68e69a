// Package soak lets many workbenches share one login for a long time, with access tokens that last seconds and refresh
// tokens that are good once, and kills them at random: no login is lost but in one window, and one refresh is under way
// at a time.
package soak
