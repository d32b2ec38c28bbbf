import { Anchor, Stack, Text, Title } from '@mantine/core'
import { Link } from 'wouter'

export default function NotFound() {
  return (
    <Stack p="xl" align="flex-start">
      <Title order={1}>There is nothing here</Title>
      <Text>The address is not that of a page, or of a site that you may see.</Text>
      <Anchor component={Link} href="/">
        To your sites
      </Anchor>
    </Stack>
  )
}
