// The official TypeScript client, which signs in by itself: ADDRESS [CLIENT_ID CLIENT_SECRET], or ADDRESS without-scopes, which
// has no scopes in its own settings. It does what the lines of its
// input say, objects of JSON with the member "do", and answers each with a line. In between it may print a line with
// "authorize", the address that a person has to open; the next line of its input is then {"callback": ADDRESS}, where that ended.
import { createInterface } from 'node:readline';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';

const [address, given, clientSecret] = process.argv.slice(2);
const isTold = given === 'without-scopes';
const clientId = isTold ? undefined : given;
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (facts) => console.log(JSON.stringify(facts));
const read = async () => {
  const { value, done } = await lines.next();
  return done ? undefined : JSON.parse(value);
};

const kept = { client: clientId ? { client_id: clientId, client_secret: clientSecret } : undefined, asked: [] };
const provider = {
  redirectUrl: 'http://127.0.0.1:1/callback',
  clientMetadata: {
    client_name: 'team', redirect_uris: ['http://127.0.0.1:1/callback'], application_type: 'native', grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'], token_endpoint_auth_method: 'none', ...(isTold ? {} : { scope: 'openid offline_access tools:read' }),
  },
  state: () => 'state-of-the-client',
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  redirectToAuthorization: (url) => void (kept.authorize = url),
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  codeVerifier: () => kept.verifier,
};
// What the transport sends, by status: the test looks at what came before the first 200.
const watched = async (url, init) => {
  const response = await fetch(url, init);
  kept.asked.push({ method: init?.method ?? 'GET', url: String(url), status: response.status, challenge: response.headers.get('www-authenticate') ?? undefined });
  return response;
};

let client;
let transport;
async function connect() {
  for (;;) {
    client = new Client({ name: 'team-typescript', version: '1' });
    transport = new StreamableHTTPClientTransport(new URL(address), { authProvider: provider, fetch: watched });
    try {
      await client.connect(transport);
      return { server: client.getServerVersion(), session: transport.sessionId };
    } catch (error) {
      if (!(error instanceof UnauthorizedError) || !kept.authorize) throw error;
      await signIn();
    }
  }
}
async function signIn() {
  say({ authorize: String(kept.authorize) });
  kept.authorize = undefined;
  const at = new URL((await read()).callback);
  if (at.searchParams.get('state') !== 'state-of-the-client') throw new Error(`the answer is of another login: ${at}`);
  await transport.finishAuth(at.searchParams.get('code'));
  await transport.close();
}

const does = {
  connect,
  list: async () => ({ tools: (await client.listTools()).tools.map((tool) => tool.name) }),
  call: async ({ name, arguments: args }) => {
    const result = await client.callTool({ name, arguments: args }, CallToolResultSchema, { timeout: 30_000 });
    return { isError: result.isError ?? false, text: result.content.map((one) => one.text).join('\n') };
  },
  tokens: async () => ({ ...kept.tokens, registered: kept.client?.client_id }),
  asked: async () => ({ asked: kept.asked }),
  end: async () => {
    await transport.terminateSession();
    await client.close();
    return {};
  },
};

for (let wish = await read(); wish; wish = await read()) {
  try {
    say(await does[wish.do](wish));
  } catch (error) {
    say({ failed: String(error?.message ?? error), code: error?.code });
  }
}
