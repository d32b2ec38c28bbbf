import { Anchor, Stack, Text, Title } from '@mantine/core'
import { Link } from 'wouter'

export default function NotFound() {
  return (
    <Stack p="xl" align="flex-start">
      <Title order={1}>Page not found</Title>
      <Text>This page does not exist, or you have no access to its site.</Text>
      <Anchor component={Link} href="/">
        Your sites
      </Anchor>
    </Stack>
  )
}
