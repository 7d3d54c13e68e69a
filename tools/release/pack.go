package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// entry is one file of an archive.
type entry struct {
	name string // with slashes
	mode os.FileMode
	time time.Time
	data []byte
}

// packTarGz and packZip write entries in their order. Nothing else gets in: no owner, no time of day.
func packTarGz(w io.Writer, entries []entry) error {
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	for _, e := range entries {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: e.name, Mode: int64(e.mode), ModTime: e.time, Size: int64(len(e.data)),
			Uname: "root", Gname: "root", Format: tar.FormatPAX,
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(e.data); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zipped.Close()
}

func packZip(w io.Writer, entries []entry) error {
	archive := zip.NewWriter(w)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: e.time}
		header.SetMode(e.mode)
		file, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := file.Write(e.data); err != nil {
			return err
		}
	}
	return archive.Close()
}

// writeFile makes a file in one step, since goreleaser runs us for several platforms at once.
func writeFile(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".making-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // gone already if all went well
	err = write(file)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Chmod(file.Name(), 0o644)
	}
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// writeArchives makes the archives of one platform.
func writeArchives(s *source, r *recipe, b *built, dir string) error {
	part, names := r.Archives[0], s.names(r, b.target)
	base, err := names.expand(part.Name)
	if err != nil {
		return err
	}
	folder := ""
	if part.Wrap {
		folder = base + "/"
	}
	entries, err := archiveEntries(s, r, b, folder)
	if err != nil {
		return err
	}
	for _, format := range part.formats(b.os) {
		pack := packTarGz
		if format == "zip" {
			pack = packZip
		}
		if err := writeFile(filepath.Join(dir, base+"."+format), func(w io.Writer) error { return pack(w, entries) }); err != nil {
			return err
		}
	}
	return nil
}

func (part *archivePart) formats(goos string) []string {
	for _, o := range part.Overrides {
		if o.OS == goos {
			return o.Formats
		}
	}
	return part.Formats
}

func archiveEntries(s *source, r *recipe, b *built, folder string) ([]entry, error) {
	part, names := r.Archives[0], s.names(r, b.target)
	var entries []entry
	for _, f := range part.Files {
		files, err := filepath.Glob(filepath.Join(s.root, filepath.FromSlash(f.Source)))
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, &os.PathError{Op: "pack", Path: f.Source, Err: os.ErrNotExist}
		}
		moment, err := names.time(f.Info.Time)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			name := filepath.ToSlash(strings.TrimPrefix(file, s.root+string(filepath.Separator)))
			entries = append(entries, entry{folder + name, f.Info.Mode, moment, data})
		}
	}
	moment, err := names.time(part.Binary.Time)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(b.path)
	if err != nil {
		return nil, err
	}
	return append(entries, entry{folder + program(r, b.target), 0o755, moment, data}), nil
}
