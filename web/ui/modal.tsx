import { Modal as MantineModal, type ModalProps } from '@mantine/core'

/** Its head is no second banner of the page, and its cross has a name. */
export const Modal = (props: ModalProps) => (
  <MantineModal
    attributes={{ header: { role: 'presentation' } }}
    closeButtonProps={{ 'aria-label': 'Close' }}
    {...props}
  />
)
