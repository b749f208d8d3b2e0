package dev.doorbell.core.mlx5;

import dev.doorbell.core.mlx5.generated.SyndromeTable;

/** Error syndromes of a CQE. */
public final class Syndrome extends SyndromeTable {
  private Syndrome() {}
}
