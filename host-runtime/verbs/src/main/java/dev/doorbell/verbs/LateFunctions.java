package dev.doorbell.verbs;

import dev.doorbell.verbs.generated.mlx5dv.Mlx5dv;
import dev.doorbell.verbs.generated.verbs.Verbs;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Functions that older libraries lack, and that there is a way without: null there. */
final class LateFunctions {
  /** rdma-core 34. */
  static final @Nullable NativeFunction REG_DMABUF_MR =
      find(
          "ibv_reg_dmabuf_mr",
          Verbs::ibv_reg_dmabuf_mr$address,
          Verbs::ibv_reg_dmabuf_mr$descriptor);

  private LateFunctions() {}

  /** Registers a dma-buf as umem; rdma-core 41. In a holder: its library may be missing. */
  static final class Mlx5 {
    static final @Nullable NativeFunction UMEM_REG_EX =
        find(
            "mlx5dv_devx_umem_reg_ex",
            Mlx5dv::mlx5dv_devx_umem_reg_ex$address,
            Mlx5dv::mlx5dv_devx_umem_reg_ex$descriptor);

    private Mlx5() {}
  }

  private static @Nullable NativeFunction find(
      String name, Supplier<MemorySegment> address, Supplier<FunctionDescriptor> descriptor) {
    try {
      return new NativeFunction(name, address.get(), descriptor.get());
    } catch (ExceptionInInitializerError | NoClassDefFoundError e) {
      return null;
    }
  }
}
