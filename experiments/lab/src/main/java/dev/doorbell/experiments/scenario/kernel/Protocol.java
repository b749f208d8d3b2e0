package dev.doorbell.experiments.scenario.kernel;

import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.generated.JobFields;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.config.kernel.KernelDescriptorReader;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.kernels.KernelCatalogue;
import dev.doorbell.kernels.ProtocolKernel;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * A kernel that experiments can run: its descriptor, and its PTX.
 *
 * @param own one of Doorbell's, of which the closed forms speak
 */
public record Protocol(KernelDescriptor descriptor, String ptx, boolean own) {
  /** Ends the names of fields that hold keys, byte-swapped as WQEs have them. */
  public static final String KEY = "_key";

  private static final Pattern WORDS = Pattern.compile("_([a-z])");

  /**
   * Protocols of Doorbell's own that were asked for, by name; an experiment names one or two of
   * many.
   */
  private static final Map<String, Protocol> READ = new ConcurrentHashMap<>();

  public String name() {
    return descriptor.name();
  }

  /** Returns true if peers signal each other in words of their own. */
  public boolean signals() {
    return descriptor.launch().signals() > 0;
  }

  /** Ranks, from 0 on, that launch the kernel. */
  public int launchedRanks(int ranks) {
    return switch (descriptor.launch().ranks()) {
      case SENDER -> 1;
      case BOTH -> 2;
      case ALL -> ranks;
    };
  }

  /** A grid of the kernel, which is stopped after {@code nanos}. */
  public LaunchConfig grid(int blocks, int threads, long nanos) {
    KernelDescriptor.Launch launch = descriptor.launch();
    return new LaunchConfig(
        blocks, 1, 1, threads, 1, 1, launch.sharedBytes(), launch.cooperative(), nanos);
  }

  /** Messages side by side in the payload and in the inbox of a rank. */
  public int slots(int ranks, LaunchConfig grid, int window) {
    return switch (descriptor.launch().slots()) {
      case BLOCKS -> descriptor.launch().allRanks() ? ranks : grid.blocks();
      case THREADS -> grid.blocks() * grid.threadsPerBlock();
      case WINDOW -> window;
    };
  }

  /** Aligned buffers for the kernel, with every right but relaxed ordering. */
  public RankBuffers.Buffers buffers(int slots, MemoryKind kind, KernelScope scope) {
    return buffers(slots, 0, kind, Endpoint.ALL_RIGHTS, scope);
  }

  /** Buffers for the kernel; both miss their natural alignment by {@code offset} bytes. */
  public RankBuffers.Buffers buffers(
      int slots, int offset, MemoryKind kind, Set<AccessRight> rights, KernelScope scope) {
    return new RankBuffers.Buffers(
        Math.toIntExact(scope.size()),
        slots,
        offset,
        kind,
        rights,
        descriptor.launch().signals(),
        scope);
  }

  /** A protocol of Doorbell's own, the same object for the same name. */
  public static Protocol ofCatalogue(String name) {
    return READ.computeIfAbsent(name, Protocol::read);
  }

  private static Protocol read(String name) {
    KernelCatalogue catalogue = KernelCatalogue.load();
    return catalogue
        .find(name)
        .map(kernel -> of(catalogue, kernel))
        .orElseThrow(() -> new IllegalArgumentException("no kernel '" + name + "'"));
  }

  private static Protocol of(KernelCatalogue catalogue, ProtocolKernel kernel) {
    try {
      return new Protocol(
          new KernelDescriptorReader()
              .read(kernel.name() + KernelDescriptor.ENDING, catalogue.descriptor(kernel)),
          catalogue.ptx(kernel),
          true);
    } catch (ConfigException e) {
      throw new IllegalStateException(
          "a descriptor of this build is broken: " + e.problems().getFirst().text(), e);
    }
  }

  public static Protocol of(UserKernel kernel) {
    return new Protocol(kernel.descriptor(), kernel.ptx(), false);
  }

  /**
   * Arguments of the entry.
   *
   * @param parameters as descriptors name them
   * @param brought values of the kernel's own settings, metrics and buffers, by name
   * @param structures contents of parameters of the descriptor's structures, by name
   */
  public static KernelArguments arguments(
      List<String> parameters,
      Kernel entry,
      Memory views,
      Memory jobMemory,
      JobView job,
      Map<String, Long> brought,
      Map<String, byte[]> structures) {
    KernelArguments arguments = new KernelArguments();
    for (int i = 0; i < parameters.size(); i++) {
      String name = parameters.get(i);
      switch (name) {
        case "queue_pairs" -> arguments.add(views);
        case "job" -> arguments.add(jobMemory);
        default -> {
          byte[] structure = structures.get(name);
          if (structure != null) {
            arguments.add(structure);
            continue;
          }
          Long own = brought.get(name);
          add(arguments, own != null ? own : value(name, job), entry.parameterBytes(i));
        }
      }
    }
    return arguments;
  }

  /**
   * The field of {@code struct doorbell_job} with that name in abi.h, as the structure holds it.
   */
  private static long value(String name, JobView job) {
    String field = WORDS.matcher(name).replaceAll(word -> word.group(1).toUpperCase(Locale.ROOT));
    try {
      Object value = Objects.requireNonNull(JobFields.class.getField(field).get(job));
      if (value instanceof Integer number) {
        return Integer.toUnsignedLong(name.endsWith(KEY) ? BigEndian.swap(number) : number);
      }
      return (Long) value;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the schema lets through the parameter " + name, e);
    }
  }

  /** A number of 8 bytes may go to a parameter of 4, and the other way round. */
  static void add(KernelArguments arguments, long value, int wanted) {
    if (wanted == Integer.BYTES) {
      arguments.add((int) value);
    } else {
      arguments.add(value);
    }
  }
}
