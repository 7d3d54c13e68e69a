// An authorization server at a loopback address, with login and consent by forms. Its options are the JSON object in the
// first argument: format ("opaque" or "jwt"), dpop (boolean), nonces (boolean). It prints its issuer,
// and then each event as a line of JSON.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const options = JSON.parse(process.argv[2] ?? '{}');
const server = createServer();
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  // What the protected server asks with whether a token is good.
  clients: [{
    client_id: 'resource-server', client_secret: 'secret-of-the-resource-server',
    grant_types: [], response_types: [], redirect_uris: [],
  }],
  cookies: { keys: [randomBytes(16).toString('hex')] },
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    revocation: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    dPoP: { enabled: options.dpop === true, nonceSecret: randomBytes(32), requireNonce: () => options.nonces === true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => ({
        audience: resource, scope: 'tools:read tools:write', accessTokenFormat: options.format ?? 'opaque',
        accessTokenTTL: 3600, jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
  scopes: ['openid', 'offline_access', 'tools:read', 'tools:write'],
  issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
  pkce: { required: () => true },
  rotateRefreshToken: true,
  ttl: { RefreshToken: 86400, Grant: 86400, Session: 86400, Interaction: 600 },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
});

for (const event of ['grant.success', 'grant.error', 'grant.revoked', 'registration_create.success', 'registration_create.error',
  'authorization.success', 'authorization.error', 'revocation.error', 'server_error']) {
  provider.on(event, (ctx, error) => console.log(JSON.stringify({
    event, grant: ctx?.oidc?.params?.grant_type, client: ctx?.oidc?.client?.clientId, error: error?.error, detail: error?.error_detail ?? error?.error_description,
  })));
}
server.on('request', provider.callback());
console.log(issuer);
