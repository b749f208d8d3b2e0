package dev.doorbell.cuda;

/**
 * Notified of host memory that a GPU pins. Pinned pages must not move, so that an implementation
 * that replaces pages does it in {@link #willPin}.
 */
public interface PinnedPages {
  /** Does nothing. */
  PinnedPages NONE =
      new PinnedPages() {
        @Override
        public void willPin(long address, long bytes) {}

        @Override
        public void unpinned(long address, long bytes) {}
      };

  /** Called before whole pages are pinned; their contents must be kept. */
  void willPin(long address, long bytes);

  /** Called after the same pages were unpinned, before they are freed. */
  void unpinned(long address, long bytes);
}
