// Package birthmark asks a compiled model, as `birthmark models image` writes it, what becomes of a
// file that is being created. It calls libbirthmark, which `make lib` installs.
package birthmark

// #cgo pkg-config: birthmark
// #include <stdlib.h>
// #include <birthmark_model.h>
import "C"

import (
	"errors"
	"runtime"
	"unsafe"
)

// Word is an answer.
type Word int

// The three answers.
const (
	No     Word = C.BM_NO
	Unsure Word = C.BM_UNSURE
	Yes    Word = C.BM_YES
)

// String returns the answer as the service words it.
func (w Word) String() string {
	return [...]string{No: "no", Unsure: "unsure", Yes: "yes"}[w]
}

// Said is what is said of one predicate.
type Said struct {
	Word Word
	// Probability of a yes: above 0 and below 1; 0 where it is not known.
	Probability float64
}

// Create is what is known of a file when it is created; nil is unknown.
type Create struct {
	Name           []byte
	Mode, UID, GID *uint32
	// Client is the host's text, such as 10.0.0.7.
	Client *string
	// Hour of the day, UTC: 0 to 23.
	Hour *uint32
	// History is what was seen before, as the live history tells it.
	History []byte
}

// Model is a compiled model. It never changes: goroutines may ask it at the same time.
type Model struct {
	model *C.struct_bm_model
	keys  []string
}

// Open reads a model; its error names the file.
func Open(path string) (*Model, error) {
	var why [512]C.char
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	model := C.bm_model_open(name, &why[0], C.size_t(len(why)))
	if model == nil {
		return nil, errors.New(C.GoString(&why[0]))
	}
	found := &Model{model: model}
	for i := C.uint32_t(0); i < C.bm_model_predicates(model); i++ {
		found.keys = append(found.keys, C.GoString(C.bm_model_key(model, i)))
	}
	runtime.SetFinalizer(found, func(m *Model) { C.bm_model_close(m.model) })
	return found, nil
}

// Predicates returns the keys, in the order of what is said.
func (m *Model) Predicates() []string {
	return append([]string(nil), m.keys...)
}

// HasProbabilities tells whether the model says how likely answers are.
func (m *Model) HasProbabilities() bool {
	defer runtime.KeepAlive(m)
	return C.bm_model_has_probabilities(m.model) != 0
}

// Say returns what is said of each predicate.
func (m *Model) Say(create Create) []Said {
	found := make([]C.struct_bm_said, len(m.keys))
	if len(found) == 0 {
		return nil
	}
	asked, free := create.inC()
	defer free()
	C.bm_model_say(m.model, asked, &found[0])
	runtime.KeepAlive(m)
	said := make([]Said, len(found))
	for i, each := range found {
		said[i] = Said{Word(each.word), float64(each.probability)}
	}
	return said
}

// inC returns the create in C's memory, and what frees it.
func (c Create) inC() (*C.struct_bm_create, func()) {
	asked := (*C.struct_bm_create)(C.calloc(1, C.sizeof_struct_bm_create))
	asked.name, asked.name_len = bytesInC(c.Name)
	asked.history, asked.history_len = bytesInC(c.History)
	for _, each := range []struct {
		value *uint32
		to    *C.uint32_t
		bit   C.uint32_t
	}{
		{c.Mode, &asked.mode, C.BM_KNOWN_MODE},
		{c.UID, &asked.uid, C.BM_KNOWN_UID},
		{c.GID, &asked.gid, C.BM_KNOWN_GID},
		{c.Hour, &asked.hour, C.BM_KNOWN_HOUR},
	} {
		if each.value != nil {
			*each.to = C.uint32_t(*each.value)
			asked.known |= each.bit
		}
	}
	if c.Client != nil {
		text, size := bytesInC([]byte(*c.Client))
		asked.client = C.bm_hash(text, size)
		asked.known |= C.BM_KNOWN_CLIENT
		C.free(text)
	}
	return asked, func() {
		C.free(asked.name)
		C.free(asked.history)
		C.free(unsafe.Pointer(asked))
	}
}

// bytesInC copies bytes into C's memory; nil is NULL.
func bytesInC(bytes []byte) (unsafe.Pointer, C.size_t) {
	if bytes == nil {
		return nil, 0
	}
	return C.CBytes(bytes), C.size_t(len(bytes))
}
