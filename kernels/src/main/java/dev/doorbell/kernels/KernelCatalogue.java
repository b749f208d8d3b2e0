package dev.doorbell.kernels;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.GZIPInputStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The protocols that come with Doorbell, from the class path. */
public final class KernelCatalogue {
  private static final Map<String, KernelCatalogue> READ = new ConcurrentHashMap<>();

  private final String folder;
  private final List<ProtocolKernel> kernels;

  /** PTX that was asked for, by kernel: every rank of a world loads the same megabyte. */
  private final Map<String, String> texts = new ConcurrentHashMap<>();

  private KernelCatalogue(String folder, List<ProtocolKernel> kernels) {
    this.folder = folder;
    this.kernels = List.copyOf(kernels);
  }

  /** The protocols of the manifest that kernels/build wrote; always the same object. */
  public static KernelCatalogue load() {
    return READ.computeIfAbsent("ptx", KernelCatalogue::read);
  }

  /** The explorer's cases instead of the protocols, each with a broken and a fixed entry. */
  public static KernelCatalogue cases() {
    return READ.computeIfAbsent("cases", KernelCatalogue::read);
  }

  private static KernelCatalogue read(String folder) {
    JsonNode manifest = JsonMapper.shared().readTree(resource(folder, "manifest.json"));
    List<ProtocolKernel> kernels = new ArrayList<>();
    for (JsonNode kernel : manifest.required("kernels")) {
      List<ProtocolKernel.EntryPoint> entries = new ArrayList<>();
      for (JsonNode entry : kernel.required("entries")) {
        entries.add(
            new ProtocolKernel.EntryPoint(
                entry.required("name").asString(),
                entry.required("registers").asInt(),
                entry.required("shared_bytes").asInt()));
      }
      kernels.add(
          new ProtocolKernel(
              kernel.required("name").asString(),
              kernel.required("description").asString(),
              kernel.required("isa").asString(),
              (kernel.has("target") ? kernel : manifest).required("target").asString(),
              kernel.required("source").asString(),
              entries));
    }
    return new KernelCatalogue(folder, kernels);
  }

  /** All protocols, by name. */
  public List<ProtocolKernel> kernels() {
    return kernels;
  }

  /** Their names. */
  public List<String> names() {
    return kernels.stream().map(ProtocolKernel::name).toList();
  }

  /** The protocol of that name. */
  public Optional<ProtocolKernel> find(String name) {
    return kernels.stream().filter(kernel -> kernel.name().equals(name)).findFirst();
  }

  /** The kernel's PTX; always the same object for a kernel. */
  public String ptx(ProtocolKernel kernel) {
    return texts.computeIfAbsent(kernel.name(), name -> resource(folder, name + ".ptx"));
  }

  /** The text of the kernel's descriptor: how it is launched, and what it measures. */
  public String descriptor(ProtocolKernel kernel) {
    return text("descriptors/" + kernel.name() + ".kernel.yaml");
  }

  private static String resource(String folder, String name) {
    return text(folder + "/" + name);
  }

  /** Reads a text file beside the classes of this package; PTX is stored compressed. */
  static String text(String name) {
    boolean compressed = name.endsWith(".ptx");
    String stored = compressed ? name + ".gz" : name;
    try (InputStream in = KernelCatalogue.class.getResourceAsStream(stored)) {
      if (in == null) {
        throw new IllegalStateException(
            "dev/doorbell/kernels/%s is missing from the class path; rebuild the jar"
                .formatted(stored));
      }
      InputStream text = compressed ? new GZIPInputStream(in, 1 << 16) : in;
      return new String(text.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
