package oauth

import (
	"net/http"
	"net/url"
	"slices"
	"time"
)

// How tokens that are bound to a key are sent to a server.
const (
	sendUnknown   = iota // with proofs, until the server says that it does not know them
	sendProof            // with proofs: the server accepted one
	sendTryBearer        // without: the server answered as one that does not know proofs
	sendBearer           // without: the server accepted it
)

// bindsTokens reports whether the authorization server binds tokens to a key that it is shown.
func (m *serverMetadata) bindsTokens() bool { return slices.Contains(m.DPoPAlgs, dpopAlgorithm) }

// bindTokens returns the key that the tokens of a login are bound to; nil if the authorization server does not do that. A
// login that goes on keeps its key, which its refresh token is bound to.
func (a *Attempt) bindTokens() (*dpopKey, error) {
	if !a.target.server.bindsTokens() {
		return nil, nil
	}
	if a.isStepUp && a.before.DPoPKey != nil {
		a.dpopKey = a.before.DPoPKey
		return loadDPoPKey(a.dpopKey)
	}
	var err error
	if a.dpopKey, err = newDPoPKey(); err != nil {
		return nil, err
	}
	return loadDPoPKey(a.dpopKey)
}

// proveTokenRequest adds a proof to a token request; none without a key.
func (c *Credentials) proveTokenRequest(metadata *serverMetadata, key *dpopKey, header http.Header) error {
	if key == nil {
		return nil
	}
	endpoint, err := url.Parse(metadata.TokenEndpoint)
	if err != nil {
		return err
	}
	proof, err := key.proof(http.MethodPost, endpoint, "", c.nonces.get(byAuthorizationServer, endpoint), time.Now())
	if err != nil {
		return err
	}
	header[dpopHeader] = []string{proof}
	return nil
}

func (c *Credentials) learnTokenNonce(metadata *serverMetadata, header http.Header) {
	if endpoint, err := url.Parse(metadata.TokenEndpoint); err == nil {
		c.nonces.learn(byAuthorizationServer, endpoint, header)
	}
}

// prove adds a proof to a request with a token that is bound to a key. A server that knows nothing of proofs gets the token
// alone (RFC 9449, section 7.2).
func (c *Credentials) prove(request *http.Request, h *holding) error {
	if sending := c.sending.Load(); sending == sendTryBearer || sending == sendBearer {
		request.Header["Authorization"] = []string{kindBearer + " " + h.credential.Access}
		return nil
	}
	proof, err := h.key.proof(request.Method, request.URL, h.credential.Access, c.nonces.get(byServer, request.URL), time.Now())
	if err != nil {
		return err
	}
	request.Header[dpopHeader] = []string{proof}
	return nil
}

// proved looks at a response of a server that accepted a token that is bound to a key.
func (c *Credentials) proved(request *http.Request, response *http.Response) {
	c.nonces.learn(byServer, request.URL, response.Header)
	sending := int32(sendBearer)
	if hasProof(request) {
		sending = sendProof
	}
	if c.sending.Load() != sending {
		c.sending.Store(sending)
	}
}

// proveAgain reports whether a refused request should be sent with the same token again, but with another proof: with the
// nonce that came with the refusal, or without a proof if the server knows none.
func (c *Credentials) proveAgain(request *http.Request, response *http.Response, all []challenge) bool {
	c.nonces.learn(byServer, request.URL, response.Header)
	knowsProofs := slices.ContainsFunc(all, func(one challenge) bool { return one.scheme == schemeDPoP })
	wantsNonce := slices.ContainsFunc(all, func(one challenge) bool { return one.code == codeNonce })
	sending := c.sending.Load()
	switch {
	case hasProof(request) && wantsNonce:
		nonce := c.nonces.get(byServer, request.URL)
		return nonce != "" && nonce != sentNonce(request)
	case hasProof(request) && !knowsProofs && len(all) > 0 && response.StatusCode == http.StatusUnauthorized:
		return c.sending.CompareAndSwap(sendUnknown, sendTryBearer)
	case !hasProof(request) && knowsProofs && sending != sendProof:
		c.sending.Store(sendProof)
		return true
	case !hasProof(request) && sending == sendTryBearer:
		c.sending.CompareAndSwap(sendTryBearer, sendUnknown) // it was not about the proof
	}
	return false
}

func hasProof(request *http.Request) bool { return request.Header.Get(dpopHeader) != "" }
