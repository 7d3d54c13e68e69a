// The identity provider of a team, at a loopback address, with login and consent by forms. Its options are the JSON object
// in the first argument: format ("opaque" or "jwt"), redirect (of the workbench's page /connect), groups (a list for each
// person), strict (refresh tokens are for those who ask for offline_access, as the library has it). It prints its issuer, and then each event as a line of JSON. POST /test with {"seconds": N} lets JWTs count for
// N more seconds from when they are issued, the minute included that a resource adds for clocks that differ.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Provider } from 'oidc-provider';

const options = JSON.parse(process.argv[2] ?? '{}');
const server = createServer();
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;
const groups = (account) => options.groups?.[account] ?? [];
let seconds;

const provider = new Provider(issuer, {
  clients: [
    // What the workbench asks with whether an opaque token is good.
    { client_id: 'resource-server', client_secret: 'secret-of-the-resource-server', grant_types: [], response_types: [], redirect_uris: [] },
    // What people sign in with on the page of the workbench.
    { client_id: 'workbench', client_secret: 'secret-of-the-page', redirect_uris: [options.redirect ?? 'http://127.0.0.1:1/connect/callback'] },
    // For clients that do not register themselves.
    { client_id: 'given', client_secret: 'secret-of-the-client', grant_types: ['authorization_code', 'refresh_token'], redirect_uris: ['http://127.0.0.1:1/callback'] },
  ],
  cookies: { keys: [randomBytes(16).toString('hex')] },
  // What a person is known by in tokens. Both kinds of token have it, and so has what introspection says.
  extraTokenClaims: (_, token) => ({ groups: groups(token.accountId) }),
  formats: {
    customizers: {
      jwt: (_, token, jwt) => {
        if (seconds !== undefined) jwt.payload.exp = Math.floor(Date.now() / 1000) - 60 + seconds;
      },
    },
  },
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    revocation: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => ({
        audience: resource, scope: 'tools:read', accessTokenFormat: options.format ?? 'jwt', accessTokenTTL: 3600, jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
  scopes: ['openid', 'offline_access', 'tools:read'],
  ...(options.strict ? {} : { issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token') }),
  pkce: { required: () => true },
  rotateRefreshToken: true,
  ttl: { RefreshToken: 86400, Grant: 86400, Session: 86400, Interaction: 600 },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, name: id, groups: groups(id) }) }),
});

for (const event of ['grant.success', 'grant.error', 'registration_create.success', 'registration_create.error', 'authorization.success',
  'authorization.error', 'introspection.error', 'server_error']) {
  provider.on(event, (ctx, error) => console.log(JSON.stringify({
    event, grant: ctx?.oidc?.params?.grant_type, client: ctx?.oidc?.client?.clientId, resource: ctx?.oidc?.params?.resource,
    account: ctx?.oidc?.account?.accountId, error: error?.error, detail: error?.error_detail ?? error?.error_description,
  })));
}
const serve = provider.callback();
server.on('request', async (request, response) => {
  if (request.method === 'POST' && request.url === '/test') {
    ({ seconds } = JSON.parse(await text(request)));
    response.end();
    return;
  }
  serve(request, response);
});
console.log(issuer);
