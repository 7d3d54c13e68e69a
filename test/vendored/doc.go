// Package vendored compares the modules of others that the page has with the packages on npm.
package vendored
