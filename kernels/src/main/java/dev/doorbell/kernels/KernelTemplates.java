package dev.doorbell.kernels;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Kernels to start from: each a CUDA source with its PTX, a descriptor and an experiment. A new
 * kernel is a copy under another name, which works at once and needs no compiler.
 */
public final class KernelTemplates {
  /** The name that stands for the kernel's own in every file. */
  static final String PLACEHOLDER = "doorbell_template";

  private static final List<String> FILES =
      List.of("template.cu", "template.ptx", "template.kernel.yaml", "template.experiment.yaml");

  private final List<String> flags;

  /** Descriptions by name. */
  private final SequencedMap<String, String> templates = new LinkedHashMap<>();

  private KernelTemplates(JsonNode manifest) {
    flags = List.of(manifest.required("flags").asString().split(" ", -1));
    for (JsonNode template : manifest.required("templates")) {
      templates.put(
          template.required("name").asString(), template.required("description").asString());
    }
  }

  /** Reads the manifest that kernels/build-templates wrote. */
  public static KernelTemplates load() {
    return new KernelTemplates(
        JsonMapper.shared().readTree(KernelCatalogue.text("templates/manifest.json")));
  }

  /** Returns the names of the templates. */
  public List<String> names() {
    return List.copyOf(templates.keySet());
  }

  /** Options of nvcc, but for the include folder and the files. */
  public List<String> compilerFlags() {
    return flags;
  }

  /**
   * The files of a new kernel, by their names.
   *
   * @param template one of {@link #names}
   * @param name of the kernel and of its entry, a C identifier
   * @param folder where the files will lie, as its README spells it
   * @param compile the command that compiles the kernel again, for the README
   */
  public SequencedMap<String, String> instantiate(
      String template, String name, String folder, String compile) {
    String description = templates.get(template);
    if (description == null) {
      throw new IllegalArgumentException("no template '" + template + "'");
    }
    SequencedMap<String, String> files = new LinkedHashMap<>();
    for (String file : FILES) {
      String text = KernelCatalogue.text("templates/" + template + "/" + file);
      if (file.equals("template.ptx")) {
        text = text.replace("\"template.cu\"", "\"" + name + ".cu\"");
      }
      files.put(file.replace("template", name), rename(text, name));
    }
    String readme =
        KernelCatalogue.text("templates/README.md.template")
            .replace("@DESCRIPTION@", sentence(description))
            .replace("@FOLDER@", folder)
            .replace("@NVCC@", compile);
    files.put("README.md", rename(readme, name));
    return files;
  }

  private static String rename(String text, String name) {
    return text.replace(PLACEHOLDER, name)
        .replace(PLACEHOLDER.replace('_', '-'), name.replace('_', '-'));
  }

  private static String sentence(String text) {
    return Character.toUpperCase(text.charAt(0)) + text.substring(1);
  }
}
