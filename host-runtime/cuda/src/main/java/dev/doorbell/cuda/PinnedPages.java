package dev.doorbell.cuda;

/**
 * Hears of host memory that a GPU is about to pin. Pages must not move from then on; who means to
 * replace them does it before.
 */
public interface PinnedPages {
  /** Nobody has to know. */
  PinnedPages UNHEARD =
      new PinnedPages() {
        @Override
        public void willPin(long address, long bytes) {}

        @Override
        public void unpinned(long address, long bytes) {}
      };

  /** Whole pages will be pinned; their contents have to stay. */
  void willPin(long address, long bytes);

  /** The same pages are not pinned any more, and will be given back. */
  void unpinned(long address, long bytes);
}
