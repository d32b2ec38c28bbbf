import type { ReportTemplate } from '@heliograph/sdk'
import { Badge, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useUser } from '../../queries.ts'
import { Muted } from '../../ui/muted.tsx'
import { inWords } from '../../ui/words.ts'
import { WriteButton } from '../../ui/write-button.tsx'

interface CatalogueProps {
  templates: readonly ReportTemplate[]
  onOnce: (template: ReportTemplate) => void
  onSubscribe: (template: ReportTemplate) => void
}

const categories: Record<string, string> = { bess: 'Battery', om: 'Maintenance' }

export function Catalogue({ templates, onOnce, onSubscribe }: CatalogueProps) {
  const { modules, scopes } = useUser()
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, xl: 3 }}>
      {templates.map((template) => {
        const lacking = template.required_scopes.filter((scope) => !scopes.includes(scope))
        const is_in_plan = modules.includes(template.required_module)
        return (
          <Card key={template.template_id} withBorder>
            <Stack gap="xs" h="100%">
              <Group justify="space-between" wrap="nowrap" align="flex-start">
                <Title order={2} size="h5">
                  {template.name}
                </Title>
                <Badge color="gray">
                  {categories[template.category] ?? inWords(template.category)}
                </Badge>
              </Group>
              <Text size="sm" style={{ flex: 1 }}>
                {template.description}
              </Text>
              <Muted>
                As {template.formats.join(', ').toUpperCase()}, about a{' '}
                {template.periods
                  .map((period) => (period === 'custom' ? 'free dates' : period))
                  .join(', ')}
              </Muted>
              {!is_in_plan && <Text size="sm">Your plan does not include it.</Text>}
              {is_in_plan && lacking.length > 0 && (
                <Text size="sm">Leaves out sections that need {lacking.join(', ')}.</Text>
              )}
              {is_in_plan && (
                <Group gap="xs">
                  <WriteButton
                    scope="reports:write"
                    size="sm"
                    aria-label={`Create report: ${template.name}`}
                    onClick={() => onOnce(template)}
                  >
                    Create report
                  </WriteButton>
                  <WriteButton
                    scope="reports:write"
                    size="sm"
                    variant="default"
                    aria-label={`Subscribe: ${template.name}`}
                    onClick={() => onSubscribe(template)}
                  >
                    Subscribe
                  </WriteButton>
                </Group>
              )}
            </Stack>
          </Card>
        )
      })}
    </SimpleGrid>
  )
}
