package wire

import "strconv"

// The functions of this file build complete messages with their newline. Arguments
// of type []byte are raw JSON.

// Suffix ends a message that begins with one of the prefixes.
const Suffix = "}\n"

// AppendRequestPrefix appends a request up to its params.
func AppendRequestPrefix(dst []byte, id uint64, method string) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = strconv.AppendUint(dst, id, 10)
	dst = append(dst, `,"method":`...)
	dst = AppendString(dst, method)
	return append(dst, `,"params":`...)
}

// Request builds a request; nil params are left out.
func Request(id uint64, method string, params []byte) []byte {
	message := append(make([]byte, 0, len(params)+len(method)+64), `{"jsonrpc":"2.0","id":`...)
	message = strconv.AppendUint(message, id, 10)
	message = append(message, `,"method":`...)
	message = AppendString(message, method)
	if len(params) > 0 {
		message = append(message, `,"params":`...)
		message = append(message, params...)
	}
	return append(message, Suffix...)
}

// Notification builds a notification; nil params are left out.
func Notification(method string, params []byte) []byte {
	message := append([]byte(nil), `{"jsonrpc":"2.0","method":`...)
	message = AppendString(message, method)
	if len(params) > 0 {
		message = append(message, `,"params":`...)
		message = append(message, params...)
	}
	return append(message, Suffix...)
}

// AppendResultPrefix appends a response up to its result.
func AppendResultPrefix(dst, id []byte) []byte {
	return appendResponsePrefix(dst, id, `,"result":`)
}

// AppendErrorPrefix appends an error response up to its error object.
func AppendErrorPrefix(dst, id []byte) []byte {
	return appendResponsePrefix(dst, id, `,"error":`)
}

func appendResponsePrefix(dst, id []byte, key string) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if len(id) == 0 {
		id = []byte("null") // JSON-RPC's answer to a message whose id is not known
	}
	dst = append(dst, id...)
	return append(dst, key...)
}

// Result builds the response to a request.
func Result(id, result []byte) []byte {
	message := AppendResultPrefix(make([]byte, 0, len(id)+len(result)+48), id)
	message = append(message, result...)
	return append(message, Suffix...)
}

// ErrorResponse builds the error response to a request; without an id it is null.
func ErrorResponse(id []byte, code int, text string) []byte {
	message := AppendErrorPrefix(nil, id)
	message = append(message, `{"code":`...)
	message = strconv.AppendInt(message, int64(code), 10)
	message = append(message, `,"message":`...)
	message = AppendString(message, text)
	return append(message, "}"+Suffix...)
}
