/** Describes every environment variable that the gateway reads. docs/configuration.md is generated from it. */

export interface Variable {
  /** Name of the variable. `<ID>` in it stands for an upstream's id in capitals, with `_` for anything but letters and digits. */
  readonly name: string
  /** Text for the docs: what applies when the variable is not set. */
  readonly fallback: string
  readonly what: string
  /** Required with NODE_ENV=production. */
  readonly required?: true
}

export interface VariableGroup {
  readonly title: string
  readonly variables: readonly Variable[]
}

/** All variables but the limits (`LIMIT_…`), which are in limits.ts. */
export const ENVIRONMENT: readonly VariableGroup[] = [
  {
    title: 'Address',
    variables: [
      { name: 'PORT', fallback: '`8080`', what: 'Port to listen on; `0` picks a free one.' },
      { name: 'HOST', fallback: '`127.0.0.1`', what: 'Address to listen on.' },
      {
        name: 'PUBLIC_URL',
        fallback: 'built from host and port',
        what: 'Address that clients use, without a path; it appears in messages, emails and pages.',
        required: true,
      },
      {
        name: 'TRUSTED_PROXIES',
        fallback: 'none',
        what: 'Addresses and networks whose `X-Forwarded-For` is trusted, such as `10.0.0.5,192.168.0.0/16`. Include a proxy on this machine, or every visitor seems to be local.',
      },
      {
        name: 'TAX_RATES',
        fallback: '`2025-07-01:8,2027-01-01:10`',
        what: 'Value-added tax included in prices and top-ups, for the CSV of top-ups: start dates with rates in percent, or with `KCT` for exempt.',
      },
    ],
  },
  {
    title: 'Process',
    variables: [
      {
        name: 'NODE_ENV',
        fallback: 'development',
        what: '`production` makes the variables marked *required* mandatory and switches the sandbox off. Only `development` and `test` are valid besides.',
      },
      {
        name: 'WORKERS',
        fallback: 'one process',
        what: '`1` to `64`, or `auto` for one per CPU: worker processes under a supervisor, which SIGHUP replaces one by one; see [redeploy.md](redeploy.md).',
      },
      {
        name: 'DATA_DIR',
        fallback: '`.data`',
        what: 'Folder of the embedded Postgres, generated secrets, the spool and compiled code.',
      },
      {
        name: 'LOG_LEVEL',
        fallback: '`info`',
        what: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
      },
    ],
  },
  {
    title: 'Database',
    variables: [
      {
        name: 'DATABASE_URL',
        fallback: 'the embedded Postgres',
        what: 'Postgres 18 or newer, `postgres://user:password@host:5432/database`; TLS and Unix sockets as in [operations.md](operations.md#address-of-the-database).',
        required: true,
      },
      {
        name: 'DATABASE_DIRECT_URL',
        fallback: 'none',
        what: 'Address that bypasses the pooler in `DATABASE_URL`; see [scale.md](scale.md).',
      },
    ],
  },
  {
    title: 'Secrets',
    variables: [
      {
        name: 'KEY_ENCRYPTION_KEYS',
        fallback: 'generated once in `DATA_DIR`',
        what: 'Encrypts stored secrets: `1:<32 bytes in base64>`, several separated by commas. New values use the highest number; `2:…:standby` is only for reading.',
        required: true,
      },
      {
        name: 'KEY_PEPPERS',
        fallback: 'generated once in `DATA_DIR`',
        what: 'Peppers the fingerprints of API keys and signs the envelopes that carry reasoning through clients; same format.',
        required: true,
      },
    ],
  },
  {
    title: 'Providers',
    variables: [
      {
        name: 'UPSTREAM_<ID>_API_KEY',
        fallback: 'none',
        what: "The upstream's credential; several separated by commas are a pool.",
      },
      { name: 'UPSTREAM_<ID>_BASE_URL', fallback: "the catalogue's", what: "Replaces the upstream's address." },
      {
        name: 'AWS_ACCESS_KEY_ID',
        fallback: 'none',
        what: 'Signs calls to AWS where no API key is set, together with `AWS_SECRET_ACCESS_KEY`.',
      },
      { name: 'AWS_SECRET_ACCESS_KEY', fallback: 'none', what: 'Goes with `AWS_ACCESS_KEY_ID`.' },
      { name: 'AWS_SESSION_TOKEN', fallback: 'none', what: 'Required with temporary access keys.' },
      { name: 'AWS_REGION', fallback: "the catalogue's", what: 'Region of the calls to AWS.' },
      {
        name: 'SANDBOX',
        fallback: '`auto`',
        what: '`auto` simulates upstreams without credentials, `off` does not. Simulated transfers and the page with emails exist only outside production, for visitors on this machine, and while no bank account, bank secret or provider credential is set.',
      },
    ],
  },
  {
    title: 'Company and contact',
    variables: [
      {
        name: 'COMPANY_NAME',
        fallback: 'none',
        what: 'Name of the company behind the service; shown in the footer of every page and on receipts.',
        required: true,
      },
      { name: 'COMPANY_ADDRESS', fallback: 'none', what: 'Its address.', required: true },
      {
        name: 'COMPANY_TAX_CODE',
        fallback: 'none',
        what: 'Its tax code: ten digits, followed by e.g. `-001` for a branch.',
        required: true,
      },
      { name: 'COMPANY_REPRESENTATIVE', fallback: 'none', what: 'Its legal representative.' },
      {
        name: 'SUPPORT_EMAIL',
        fallback: 'none',
        what: 'Address that customers write to; shown on the contact page.',
        required: true,
      },
      { name: 'SUPPORT_PHONE', fallback: 'none', what: 'Number that customers call.' },
      { name: 'SUPPORT_ZALO', fallback: 'none', what: 'Zalo link, `https://zalo.me/…`.' },
      {
        name: 'CONTENT_DIR',
        fallback: 'the drafts in `src/dashboard/content`',
        what: 'Folder with your texts for the contact, terms, privacy, refunds and complaints pages; see [operations.md](operations.md).',
      },
    ],
  },
  {
    title: 'Signing in with Google and GitHub',
    variables: [
      {
        name: 'SIGN_IN_GOOGLE_CLIENT_ID',
        fallback: 'none: not offered',
        what: 'OAuth client of Google; its redirect address is `PUBLIC_URL/signin/google/callback`.',
      },
      { name: 'SIGN_IN_GOOGLE_CLIENT_SECRET', fallback: 'none', what: 'Its secret.' },
      {
        name: 'SIGN_IN_GOOGLE_ISSUER',
        fallback: '`https://accounts.google.com`',
        what: 'Where its OpenID configuration is found.',
      },
      {
        name: 'SIGN_IN_GITHUB_CLIENT_ID',
        fallback: 'none: not offered',
        what: 'OAuth app of GitHub; its callback address is `PUBLIC_URL/signin/github/callback`.',
      },
      { name: 'SIGN_IN_GITHUB_CLIENT_SECRET', fallback: 'none', what: 'Its secret.' },
      {
        name: 'SIGN_IN_GITHUB_URL',
        fallback: '`https://github.com`',
        what: 'For GitHub Enterprise Server, its address.',
      },
      {
        name: 'SIGN_IN_GITHUB_API_URL',
        fallback: '`https://api.github.com`',
        what: 'For GitHub Enterprise Server, the address of its API.',
      },
    ],
  },
  {
    title: 'Mail and webhooks',
    variables: [
      {
        name: 'SMTP_URL',
        fallback: 'none: emails are written to `DATA_DIR/outbox`',
        what: 'Mail server, `smtp://user:password@host:587`; special characters of the password percent-encoded, such as `%2F` for `/`.',
      },
      { name: 'MAIL_FROM', fallback: '`no-reply@` the host of `PUBLIC_URL`', what: 'Sender of emails.' },
      {
        name: 'WEBHOOK_PRIVATE_NETWORKS',
        fallback: 'none',
        what: "Private networks that customers' webhooks may reach, also by plain http, such as `10.20.0.0/16`; for tests, and for installations with internal customers.",
      },
    ],
  },
  {
    title: 'Bank',
    variables: [
      {
        name: 'BANK_BIN',
        fallback: 'none',
        what: 'Six-digit code (BIN) of the bank that customers transfer to; see [payments.md](payments.md).',
      },
      { name: 'BANK_ACCOUNT', fallback: 'none', what: 'Account number at that bank.' },
      { name: 'BANK_ACCOUNT_NAME', fallback: 'none', what: 'Name of the account.' },
      { name: 'BANK_NAME', fallback: 'none', what: "The bank's name as shown to customers." },
      { name: 'SEPAY_WEBHOOK_SECRET', fallback: 'none', what: "Opens SePay's webhook, signed." },
      { name: 'SEPAY_API_KEY', fallback: 'none', what: "Opens SePay's webhook, authenticated by API key." },
      {
        name: 'SEPAY_API_TOKEN',
        fallback: 'none',
        what: 'Lets the gateway poll SePay for transfers it did not report.',
      },
      { name: 'SEPAY_API_URL', fallback: "SePay's", what: 'Where SePay lists transactions.' },
      { name: 'PAYOS_CHECKSUM_KEY', fallback: 'none', what: "Opens payOS's webhook." },
      { name: 'CASSO_CHECKSUM_KEY', fallback: 'none', what: "Opens Casso's webhook, signed." },
      { name: 'CASSO_SECURE_TOKEN', fallback: 'none', what: "Opens Casso's webhook, authenticated by secure token." },
      {
        name: 'BANK_WEBHOOK_SECRET',
        fallback: 'none',
        what: 'Opens the webhook for any other service: `whsec_` and at least 24 bytes in base64.',
      },
    ],
  },
  {
    title: 'Metrics and traces',
    variables: [
      {
        name: 'METRICS_PORT',
        fallback: 'none: no metrics',
        what: 'Serves `/metrics` for Prometheus; see [observability.md](observability.md).',
      },
      { name: 'METRICS_HOST', fallback: '`127.0.0.1`', what: 'Address that the metrics port listens on.' },
      {
        name: 'METRICS_AUDIT_MINUTES',
        fallback: '`360`',
        what: 'Pause between two audits for the metrics; `0`: no audits. The alert `GatewayAuditMissing` expects one in two days (2,880).',
      },
      {
        name: 'METRICS_AUDIT_FULL_MINUTES',
        fallback: '`1440`',
        what: 'Age at which an audit of the whole journal is repeated, at most a week; audits in between read only what is new. `0`: every audit reads all of it.',
      },
      { name: 'OTEL_EXPORTER_OTLP_ENDPOINT', fallback: 'none: no traces', what: 'Base URL for OTLP spans.' },
      {
        name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
        fallback: 'built from the one above',
        what: 'Full URL for traces, instead of the base URL.',
      },
      { name: 'OTEL_EXPORTER_OTLP_PROTOCOL', fallback: '`http/json`', what: 'The only protocol supported.' },
      { name: 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', fallback: '`http/json`', what: 'The same, for traces only.' },
      { name: 'OTEL_EXPORTER_OTLP_HEADERS', fallback: 'none', what: 'Headers for the collector, `name=value,…`.' },
      { name: 'OTEL_RESOURCE_ATTRIBUTES', fallback: 'none', what: 'Resource attributes, `name=value,…`.' },
      { name: 'OTEL_SERVICE_NAME', fallback: "the service's own", what: 'Name of the service in traces.' },
      { name: 'OTEL_TRACES_SAMPLER_ARG', fallback: '`1`', what: 'Fraction of traces kept, `0` to `1`.' },
      { name: 'OTEL_SDK_DISABLED', fallback: '`false`', what: '`true` switches traces off.' },
    ],
  },
]
