package main

import (
	"io"
	"path"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // the formats register themselves
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// writeLinuxPackages makes the packages of one Linux platform, with the library that goreleaser uses.
func writeLinuxPackages(s *source, r *recipe, b *built, dir string) error {
	for _, format := range r.Packages[0].Formats {
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		info, err := linuxInfo(s, r, b)
		if err != nil {
			return err
		}
		if err := nfpm.PrepareForPackager(nfpm.WithDefaults(info), format); err != nil {
			return err
		}
		names := s.names(r, b.target)
		names["ConventionalFileName"] = packager.ConventionalFileName(info)
		name, err := names.expand(r.Packages[0].File)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, name), func(w io.Writer) error { return packager.Package(info, w) }); err != nil {
			return err
		}
	}
	return nil
}

// linuxInfo is made for each format anew, since a packager changes it.
func linuxInfo(s *source, r *recipe, b *built) (*nfpm.Info, error) {
	part, names := r.Packages[0], s.names(r, b.target)
	moment, err := names.time(part.Time)
	if err != nil {
		return nil, err
	}
	info := &nfpm.Info{
		Name: part.Name, Arch: b.arch, Platform: b.os, Version: s.version,
		Section: part.Section, Priority: part.Priority, Maintainer: part.Maintainer, Description: part.Description,
		Vendor: part.Vendor, Homepage: part.Homepage, License: part.License, MTime: moment,
	}
	info.RPM.BuildHost = part.RPM.BuildHost
	for _, c := range part.Contents {
		at, err := names.time(c.Info.Time)
		if err != nil {
			return nil, err
		}
		info.Contents = append(info.Contents, &files.Content{
			Source: filepath.Join(s.root, filepath.FromSlash(c.Source)), Destination: c.Target,
			FileInfo: &files.ContentFileInfo{Mode: c.Info.Mode, MTime: at},
		})
	}
	info.Contents = append(info.Contents, &files.Content{
		Source: b.path, Destination: path.Join(part.Bindir, program(r, b.target)),
		FileInfo: &files.ContentFileInfo{Mode: 0o755, MTime: moment},
	})
	return info, nil
}
