// Package vendored compares the modules of others that the page has with the packages on npm, and checks the types of ours.
package vendored
