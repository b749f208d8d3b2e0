package dev.doorbell.verbs.library;

import dev.doorbell.verbs.generated.mlx5dv.Mlx5dv;
import dev.doorbell.verbs.generated.verbs.Verbs;
import java.lang.foreign.FunctionDescriptor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Functions that older libraries lack, where they are null; callers have another way. */
public final class OptionalFunctions {
  /** Registers a dma-buf as memory region; rdma-core 34. */
  public static final @Nullable NativeFunction REG_DMABUF_MR =
      find(Libraries.VERBS, "ibv_reg_dmabuf_mr", Verbs::ibv_reg_dmabuf_mr$descriptor);

  private OptionalFunctions() {}

  /** Registers a dma-buf as umem; rdma-core 41. A class of its own: libmlx5 may be missing. */
  public static final class Mlx5 {
    public static final @Nullable NativeFunction UMEM_REG_EX =
        find(Libraries.MLX5, "mlx5dv_devx_umem_reg_ex", Mlx5dv::mlx5dv_devx_umem_reg_ex$descriptor);

    private Mlx5() {}
  }

  private static @Nullable NativeFunction find(
      String library, String name, Supplier<FunctionDescriptor> descriptor) {
    try {
      return NativeFunction.of(library, name, descriptor.get());
    } catch (ExceptionInInitializerError | NoClassDefFoundError _) {
      return null;
    }
  }
}
