/** Above the sites there is no clock of a site: that of who looks counts. */
export const here = Intl.DateTimeFormat().resolvedOptions().timeZone
