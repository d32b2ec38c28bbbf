/** Texts of the OpenAPI document: title, introduction and the description of each tag. */
import { heavy_introduction } from './heavy-reads.ts'
import { export_introduction } from './openapi-export.ts'
import { per_minute, window_s } from './rate-limit.ts'
import { window_days_max } from './windows.ts'

export const title = 'Heliograph API'

/** Version of the interface, which is not that of the program. */
export const interface_version = '1.0.0'

/** Every tag that an endpoint may carry, in the order of the chapters. */
export const tags: Readonly<Record<string, string>> = {
  Sites: 'The sites that the key can see. Their `site_id` stands in every other path.',
  Plant: 'The site as a whole, live: its state, its places, the holes in its data.',
  Loggers: 'Loggers: each is one plant of the site. Live state, history, hourly energy.',
  Inverters: 'Inverters with live values, history, and the alarm words they report.',
  Strings: 'PV strings of an inverter: configuration, live currents, history. Counted from 0.',
  Sensors: 'Sensor and fan nodes of the transformer stations.',
  Weather: 'What the met stations of the site measure.',
  Diagnostics: 'Efficiency rankings, string health and losses, each by a published rule.',
  'I-V curves': 'Panel models, and what strings should deliver against what they do.',
  Energy: 'Energy by day and hour.',
  Curtailment:
    'Limits on the output of plants. A limit can only lower it; the grid permit, which no ' +
    'request can change or read, holds at all times and after every release.',
  Markets: 'Electricity markets and their day-ahead prices.',
  Earnings: 'What the energy earned: gross, fees, net.',
  Predictions: 'Forecasts of production and price as P10, P50 and P90, and how good they were.',
  Batteries: 'Battery storage: live state, histories, alarms, and dispatch schedules to approve.',
  Alerts: 'Alerts of the site, to be acknowledged and resolved.',
  'Work orders': 'Work orders and their checklists.',
  Maintenance: 'Inspection categories and the notifications of operation and maintenance.',
  Defects: 'Defects found on site.',
  Reports: 'Report templates, runs and subscriptions.',
}

export const introduction = `
Solar plants over HTTP and JSON: read every device of a site, its history and its diagnostics;
curtail plants and dispatch batteries.

## Requests

Every request carries \`Authorization: Bearer <API key>\`; a key is read from nowhere else. All
paths but \`/v1/sites\` name a site of the key. An operation names the scope that the key needs
and the module that the client's plan needs. Bodies are JSON in UTF-8. A query parameter that
the operation does not have, and one given twice that may be given once, is refused: a typing
error must not pass silently in a system that controls plants.

## Answers

A list is \`{ "data": [ … ], "meta": { "count": … } }\`, where \`count\` is how many items match
whatever the limit; a single thing is the thing itself. Every field is always present, and
\`null\` means not measured or not applicable; \`0\` is a measurement. \`meta.truncated\` says
that the limit cut a series: go on with \`meta.next_start\` as \`start\`, or with
\`meta.previous_end\` as \`end\`. A list that takes \`cursor\` is read page by page: pass
\`meta.next_cursor\` as \`cursor\`, with all other parameters unchanged, until it is null. Live
objects say when they were measured (\`measured_at\`), how old that is (\`age_s\`) and how far to
trust it (\`quality\`). An item that cannot be served is left out: \`meta.omitted\` says how many,
and is absent where none was. Answers are compressed on
request (br, gzip); where an operation sends an \`ETag\`, \`If-None-Match\` saves the body.

## Errors

Every error is \`{ "error": { "code", "message", "request_id", "details" } }\`. Branch on
\`code\`, which is stable; \`message\` is for people and may change. A \`validation_error\`
lists every violation at once in \`details.errors\`. Quote \`request_id\`, which is also the
header \`X-Request-Id\`, when you report a problem; send that header to choose it yourself.
A 503 names its reason in \`details.reason\` where it is known. The database could not finish:
\`statement_timeout\` and \`lock_timeout\` (it took too long), \`serialization_failure\` (another
write was faster), \`numeric_overflow\` (a stored value exceeds its range; in a write that is a 422
with the code \`out_of_range\`). \`value_outside_schema\`: a value cannot be served,
\`details.field\` names it. Nothing was stored in all of these.
Before an operation is reached the connection itself can answer 400, 405, 408 or 431 in the same
form.

## Rates

${per_minute.general} requests in any ${window_s} s and of each key, of which ${per_minute.write} may be
writes, unless the operator has set other limits for the key. \`RateLimit-Policy\` tells the
limits, \`RateLimit\` what is left of them and for how long. A 429 says in \`Retry-After\` how
many seconds to wait. For whole sites poll \`/overview\` and not device after device.

## Writes

Send \`Idempotency-Key\` with a new unique value (a UUID) for each logical operation, and the
same value when you retry it: within 24 hours the recorded answer is replayed byte for byte with
\`Idempotent-Replayed: true\`, and nothing is executed twice. The same key with another request
is refused with 422 \`idempotency_conflict\`. While a site is being commissioned (safe mode)
every write gets 409 \`conflict_safe_mode\`. Curtailment and battery dispatch are control
writes: they command the plant. No request can raise a plant above its grid permit.

## Time

Every timestamp is RFC 3339. A request may use any offset, and is refused without one; answers are
always UTC and end in \`Z\`. Windows are half-open: \`start\` is inside, \`end\` is not. Dates
are \`YYYY-MM-DD\` in UTC, both inclusive. With \`start\` a series gives the first rows from
there, without it the newest before \`end\`, in ascending order either way. A limit above its
cap counts as the cap. No window is refused for its length. A series without a limit gives the first
${window_days_max} days; \`meta.truncated\` says so, \`meta.next_start\` is the \`start\` to go on with, and a
file has it in its \`Link\` header (\`rel="next"\`). Forecasts end with the last hour that was forecast. Sums
and rankings are of the whole window.

## Units and signs

A name ends in its unit: \`power_kw\`, \`energy_kwh\`, \`irradiance_w_m2\`; \`_pct\` runs from 0
to 100, \`_ratio\` from 0 to 1. Power is positive towards the grid: generation, discharge and
export are positive, charging and import negative. Reactive power is positive when it is
injected. Counters stand as the device gives them.

${heavy_introduction.trim()}

${export_introduction.trim()}

## Compatibility

Within \`/v1\` things are only added: operations, optional parameters, fields, values of open
enumerations (\`x-open-enum\`), error codes. Ignore what you do not know. What is retired says
so twelve months ahead with the headers \`Deprecation\`, \`Sunset\` and \`Link\`.
`.trim()
