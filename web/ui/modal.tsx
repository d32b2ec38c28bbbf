import {
  Button,
  type DrawerProps,
  Group,
  Drawer as MantineDrawer,
  Modal as MantineModal,
  type ModalProps,
} from '@mantine/core'
import type { ReactNode } from 'react'

/** Names the close button, and keeps the header from being a second banner of the page. */
const labelled = {
  attributes: { header: { role: 'presentation' } },
  closeButtonProps: { 'aria-label': 'Close' },
}

export const Modal = (props: ModalProps) => <MantineModal {...labelled} {...props} />

export const Drawer = (props: DrawerProps) => (
  <MantineDrawer position="right" size="lg" {...labelled} {...props} />
)

interface DialogButtonsProps {
  onClose: () => void
  /** The button that closes the dialog without doing anything. */
  cancel?: string
  /** Where Enter must do nothing by mistake, the cancel button has the focus. */
  focus_cancel?: true
  children: ReactNode
}

/** The row of buttons at the end of a dialog. */
export const DialogButtons = ({
  onClose,
  cancel = 'Cancel',
  focus_cancel,
  children,
}: DialogButtonsProps) => (
  <Group justify="flex-end">
    <Button variant="default" onClick={onClose} data-autofocus={focus_cancel}>
      {cancel}
    </Button>
    {children}
  </Group>
)
