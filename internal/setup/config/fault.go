package config

import (
	"cmp"
	"errors"
	"slices"
)

// Faults returns the mistakes inside servers, one error per file in the order of that file, or nil.
func (c *Config) Faults() []*Error {
	var faults []*Error
	for _, box := range c.Toolboxes {
		for i := range box.Servers {
			faults = addFault(faults, box.Servers[i].Fault)
		}
	}
	for _, fault := range faults {
		slices.SortStableFunc(fault.Problems, func(a, b Problem) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
	}
	return faults
}

// addFault adds the problems of one server to those of its file.
func addFault(faults []*Error, fault *Error) []*Error {
	if fault == nil {
		return faults
	}
	for _, known := range faults {
		if known.File == fault.File {
			known.Problems = append(known.Problems, fault.Problems...)
			return faults
		}
	}
	return append(faults, &Error{Code: fault.Code, File: fault.File, Problems: slices.Clone(fault.Problems)})
}

// Strict rejects a configuration with any mistake, including those inside one server. Its arguments are the results of
// Parse and Load.
func Strict(cfg *Config, err error) (*Config, error) {
	if err != nil {
		return nil, err
	}
	faults := cfg.Faults()
	if len(faults) == 0 {
		return cfg, nil
	}
	faults[0].Warnings = cfg.Warnings
	errs := make([]error, len(faults))
	for i, fault := range faults {
		errs[i] = fault
	}
	if len(errs) == 1 {
		return nil, errs[0]
	}
	return nil, errors.Join(errs...)
}
