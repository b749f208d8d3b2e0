package dev.doorbell.verbs.library;

import dev.doorbell.core.Probe;
import dev.doorbell.core.hca.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds out whether this machine has RDMA devices, and mlx5 devices in particular. The absence has
 * four causes, each with its own fix: no library, no kernel support, no device, no mlx5. This class
 * uses no generated class: those fail to load where the library is missing.
 */
public final class VerbsProbe {
  private static final String EMULATED = "or run on the software HCA (hca: soft), which needs none";
  private static final String INSTALL =
      "apt-get install libibverbs1 ibverbs-providers (rdma-core elsewhere), " + EMULATED;
  private static final String UPDATE = "update rdma-core to 44 or later";
  private static final Path NODES = Path.of("/dev/infiniband");
  private static final Path CLASS = Path.of("/sys/class/infiniband");

  /** Functions without which nothing works; other missing ones are reported when called. */
  private static final List<String> REQUIRED =
      List.of(
          "ibv_get_device_list",
          "ibv_free_device_list",
          "ibv_get_device_name",
          "ibv_close_device",
          "ibv_query_port",
          "_ibv_query_gid_ex",
          "ibv_alloc_pd",
          "ibv_reg_mr_iova2",
          "ibv_create_ah");

  private static final List<String> REQUIRED_OF_MLX5 =
      List.of(
          "mlx5dv_is_supported",
          "mlx5dv_open_device",
          "mlx5dv_init_obj",
          "mlx5dv_devx_general_cmd",
          "mlx5dv_devx_obj_create",
          "mlx5dv_devx_obj_modify",
          "mlx5dv_devx_obj_destroy",
          "mlx5dv_devx_umem_reg",
          "mlx5dv_devx_umem_dereg",
          "mlx5dv_devx_alloc_uar",
          "mlx5dv_devx_free_uar",
          "mlx5dv_devx_query_eqn");

  private VerbsProbe() {}

  /** Looks for mlx5 devices. */
  public static Probe probeMlx5() {
    return probeMlx5(Libraries.VERBS, Libraries.MLX5, CLASS, NODES);
  }

  static Probe probe(String library, Path sysfs, Path nodes) {
    return withLibrary(library, verbs -> probe(library, verbs, sysfs, nodes, List.of()));
  }

  static Probe probeMlx5(String verbs, String mlx5, Path sysfs, Path nodes) {
    return withLibrary(
        verbs,
        lookup -> {
          Probe any = probe(verbs, lookup, sysfs, nodes, List.of());
          return any instanceof Probe.Ready ready
              ? withLibrary(mlx5, second -> onlyMlx5(ready, verbs, lookup, mlx5, second))
              : any;
        });
  }

  /** Probes with two libraries, which may be fakes of a test. */
  static Probe onlyMlx5(
      Probe.Ready any, String verbsName, SymbolLookup verbs, String name, SymbolLookup mlx5) {
    Probe lacking = lacking(name, mlx5, REQUIRED_OF_MLX5);
    if (lacking != null) {
      return lacking;
    }
    Probe mine = probe(verbsName, verbs, CLASS, NODES, List.of(mlx5));
    return mine instanceof Probe.Ready
        ? mine
        : new Probe.OtherDevices(
            "mlx5",
            any.devices(),
            "queues of a GPU's own need ConnectX-4 or later; "
                + EMULATED.substring("or ".length()));
  }

  @FunctionalInterface
  private interface WithLibrary {
    Probe probe(SymbolLookup symbols);
  }

  private static Probe withLibrary(String library, WithLibrary then) {
    try {
      return then.probe(SymbolLookup.libraryLookup(library, Arena.global()));
    } catch (IllegalArgumentException e) {
      return new Probe.NoDriver(library, INSTALL);
    }
  }

  private static @org.jspecify.annotations.Nullable Probe lacking(
      String library, SymbolLookup symbols, List<String> needed) {
    List<String> missing = needed.stream().filter(name -> symbols.find(name).isEmpty()).toList();
    return missing.isEmpty() ? null : new Probe.MissingSymbols(library, missing, UPDATE);
  }

  /**
   * @param filters libraries whose {@code mlx5dv_is_supported} must accept a device
   */
  static Probe probe(
      String library, SymbolLookup verbs, Path sysfs, Path nodes, List<SymbolLookup> filters) {
    Probe lacking = lacking(library, verbs, REQUIRED);
    if (lacking != null) {
      return lacking;
    }
    NativeFunction list =
        function(
            verbs,
            "ibv_get_device_list",
            FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(ValueLayout.JAVA_INT);
      NativeFunction.Answer answer = list.call(count);
      if (answer.pointer().address() == 0) {
        return noKernel(answer.errno());
      }
      int devices = count.get(ValueLayout.JAVA_INT, 0);
      try {
        List<String> names = names(verbs, answer.pointer(), devices, filters);
        return names.isEmpty() ? noDevice(library, sysfs, nodes) : new Probe.Ready(library, names);
      } finally {
        function(verbs, "ibv_free_device_list", FunctionDescriptor.ofVoid(ValueLayout.ADDRESS))
            .callVoid(answer.pointer());
      }
    }
  }

  private static Probe noKernel(int errno) {
    return new Probe.NoKernelSupport(
        "RDMA support (ibv_get_device_list answers %s)".formatted(Errno.describe(errno)),
        "modprobe ib_uverbs and the device's driver (mlx5_ib), " + EMULATED);
  }

  private static Probe noDevice(String library, Path sysfs, Path nodes) {
    if (!isEmpty(sysfs) && isEmpty(nodes)) {
      return new Probe.NoDevice(
          "%s, and %s names devices whose nodes are missing in %s".formatted(library, sysfs, nodes),
          "give the container its nodes (--device=/dev/infiniband), " + EMULATED);
    }
    return new Probe.NoDevice(
        library,
        "see 'lspci -d 15b3:' and 'dmesg | grep mlx5', and whether the device is passed to this VM"
            + " or container, "
            + EMULATED);
  }

  private static boolean isEmpty(Path folder) {
    String[] names = folder.toFile().list();
    return !Files.isDirectory(folder) || names == null || names.length == 0;
  }

  private static List<String> names(
      SymbolLookup verbs, MemorySegment list, int count, List<SymbolLookup> filters) {
    NativeFunction name =
        function(
            verbs,
            "ibv_get_device_name",
            FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS));
    MemorySegment devices = list.reinterpret((long) count * Long.BYTES);
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      MemorySegment device = devices.getAtIndex(ValueLayout.ADDRESS, i);
      boolean accepted =
          filters.stream()
              .allMatch(
                  library ->
                      (boolean)
                          function(
                                  library,
                                  "mlx5dv_is_supported",
                                  FunctionDescriptor.of(
                                      ValueLayout.JAVA_BOOLEAN, ValueLayout.ADDRESS))
                              .call(device)
                              .value());
      if (accepted) {
        names.add(name.call(device).pointer().reinterpret(Long.MAX_VALUE).getString(0));
      }
    }
    return names;
  }

  private static NativeFunction function(
      SymbolLookup symbols, String name, FunctionDescriptor descriptor) {
    return new NativeFunction(name, symbols.findOrThrow(name), descriptor);
  }
}
