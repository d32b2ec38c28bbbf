import {
  Alert,
  Badge,
  Card,
  type CSSVariablesResolver,
  createTheme,
  Notification,
} from '@mantine/core'

/** Colours with enough contrast for text in both schemes. */
export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 9, dark: 8 },
  autoContrast: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, monospace',
  defaultRadius: 'md',
  respectReducedMotion: true,
  components: {
    // Only the frame is coloured.
    Alert: Alert.extend({
      defaultProps: { variant: 'outline' },
      styles: (_, { variant }) =>
        variant === 'outline' ? { title: { color: 'var(--mantine-color-text)' } } : {},
    }),
    Card: Card.extend({ defaultProps: { withBorder: true } }),
    // Only the dot is coloured.
    Badge: Badge.extend({
      defaultProps: { variant: 'dot', tt: 'none' },
      // Gray would be invisible on a dark page.
      vars: (_, { color }) => ({
        dot: {},
        root: color === 'gray' ? { '--badge-dot-color': 'var(--mantine-color-dimmed)' } : {},
      }),
    }),
    Notification: Notification.extend({
      defaultProps: { closeButtonProps: { 'aria-label': 'Close' } },
    }),
  },
})

/** Dimmed text and error text with enough contrast. */
export const variables: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': colors.gray[7],
    '--mantine-color-placeholder': colors.gray[7],
    '--mantine-color-error': colors.red[9],
  },
  dark: {
    '--mantine-color-dimmed': colors.dark[1],
    '--mantine-color-placeholder': colors.dark[1],
    '--mantine-color-error': colors.red[4],
  },
})
