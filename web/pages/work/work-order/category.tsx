import { Select, Text } from '@mantine/core'
import { useRead } from '../../../queries.ts'

interface CategoryProps {
  site_id: string
  value?: string | null
  onChange?: (value: string | null) => void
  error?: string
}

/** Chooses the category whose checklist is copied to the order. */
export function Category({ site_id, value = null, onChange, error }: CategoryProps) {
  const { data } = useRead('om-categories', 'omCategoriesList', { site_id }, { staleTime: 600_000 })
  const categories = (data?.data ?? []).filter(({ is_active }) => is_active)
  const chosen = categories.find(({ category_id }) => String(category_id) === value)
  return (
    <div>
      <Select
        label="Checklist"
        placeholder="None"
        clearable
        searchable
        clearButtonProps={{ 'aria-label': 'No checklist' }}
        data={categories.map(({ category_id, name, standard_reference }) => ({
          value: String(category_id),
          label: standard_reference ? `${name} (${standard_reference})` : name,
        }))}
        {...{ value, onChange, error }}
      />
      {chosen && (
        <Text size="sm" mt={4}>
          {chosen.default_checklist.length} items. {chosen.description}
        </Text>
      )}
    </div>
  )
}
