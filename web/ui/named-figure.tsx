import { Text } from '@mantine/core'

/** A small metric with its name and a note. */
export function NamedFigure({
  name,
  value,
  note,
  size = 'sm',
}: {
  name: string
  value: string
  note?: string | null
  size?: 'xs' | 'sm'
}) {
  return (
    <div>
      <Text size={size} c="dimmed">
        {name}
      </Text>
      <Text className="figure" fw={600}>
        {value}
      </Text>
      {note && (
        <Text size={size} c="dimmed">
          {note}
        </Text>
      )}
    </div>
  )
}
