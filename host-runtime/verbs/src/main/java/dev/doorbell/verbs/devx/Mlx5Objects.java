package dev.doorbell.verbs.devx;

import dev.doorbell.verbs.generated.mlx5dv.Mlx5dv;
import dev.doorbell.verbs.generated.mlx5dv.mlx5dv_pd;
import dev.doorbell.verbs.library.Mlx5Functions;
import dev.doorbell.verbs.library.NativeFunction.Failure;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * {@code mlx5dv_init_obj}: libmlx5's data of an object that libibverbs created. {@code struct
 * mlx5dv_obj} has seven pairs of pointers: the object, and the struct that the call fills.
 */
public final class Mlx5Objects {
  public static final int BYTES = 112;
  public static final int DM_OFFSET = 64;
  public static final int AH_OFFSET = 80;
  public static final int PD_OFFSET = 96;

  private static final Failure NUMBER =
      Failure.of(
          "read the number of a protection domain", "update libmlx5 to that of rdma-core 44");

  private Mlx5Objects() {}

  /**
   * Fills a struct.
   *
   * @param offset place of the pair in {@code struct mlx5dv_obj}
   * @param type {@code MLX5DV_OBJ_*}
   * @param object created by libibverbs
   * @param filled the {@code struct mlx5dv_*} of that type
   */
  static void query(
      Failure failure, int offset, long type, MemorySegment object, MemorySegment filled) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment objects = arena.allocate(BYTES, Long.BYTES);
      objects.set(ValueLayout.ADDRESS, offset, object);
      objects.set(ValueLayout.ADDRESS, offset + ValueLayout.ADDRESS.byteSize(), filled);
      Mlx5Functions.INIT_OBJ.require(failure, objects, type);
    }
  }

  /** The number by which firmware commands name a protection domain. */
  static int domainNumber(MemorySegment pd) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment filled = arena.allocate(mlx5dv_pd.layout());
      query(NUMBER, PD_OFFSET, Mlx5dv.MLX5DV_OBJ_PD(), pd, filled);
      return mlx5dv_pd.pdn(filled);
    }
  }
}
