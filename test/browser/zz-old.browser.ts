import './accounts.ts'
import './outages.ts'
