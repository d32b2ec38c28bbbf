/**
 * The owner's platform as people use it, and the examples as they are typed: the whole demo and a
 * real browser, one of each for all of it, in this order. Each test has a window of its own.
 */
import './accounts.ts'
import './commands.ts'
import './pages.ts'
import './connection.ts'
import './outages.ts'
import './diagnosis.ts'
// Plans tomorrow, for which the demo has prices some minutes after its start.
import './dialogs.ts'
import './market.ts'
import './maintenance.ts'
import './reports.ts'
import './audit.ts'
import './readme-examples.ts'
import './reference-examples.ts'
