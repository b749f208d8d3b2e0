package dev.doorbell.launcher;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/** The content of a module's jar, which can be written anew. */
final class ModuleJar {
  private static final String CLASS = ".class";
  private static final String METADATA = "META-INF/";
  private static final String SERVICES = "META-INF/services/";

  private final Project.Module module;
  private final Map<String, byte[]> entries = new LinkedHashMap<>();
  private boolean changed;

  ModuleJar(Project.Module module) throws IOException {
    this.module = module;
    try (ZipFile zip = new ZipFile(module.jar().toFile())) {
      for (ZipEntry entry : (Iterable<ZipEntry>) zip.stream().map(ZipEntry.class::cast)::iterator) {
        if (!entry.isDirectory()) {
          entries.put(entry.getName(), zip.getInputStream(entry).readAllBytes());
        }
      }
    }
  }

  /**
   * Returns the classes in the jar.
   *
   * @param folder the start of their internal names, such as {@code dev/doorbell/core/}
   */
  List<CompiledClass> classes(String folder) {
    return entries.entrySet().stream()
        .filter(entry -> entry.getKey().startsWith(folder) && entry.getKey().endsWith(CLASS))
        .map(entry -> CompiledClass.of(entry.getValue()))
        .toList();
  }

  Path file() {
    return module.jar();
  }

  boolean isChanged() {
    return changed;
  }

  void remove(String className) {
    changed |= entries.remove(className + CLASS) != null;
  }

  void put(String className, byte[] bytes) {
    entries.put(className + CLASS, bytes);
    changed = true;
  }

  /** Replaces all resources by those that the module has now. */
  void replaceResources() throws IOException {
    entries
        .keySet()
        .removeIf(
            name ->
                !name.endsWith(CLASS) && (!name.startsWith(METADATA) || name.startsWith(SERVICES)));
    for (Project.Resources each : module.resources()) {
      for (Path file : Project.filesBelow(each.folder())) {
        entries.put(
            each.target() + each.folder().relativize(file).toString().replace('\\', '/'),
            Files.readAllBytes(file));
      }
    }
    changed = true;
  }

  private Set<String> folders() {
    Set<String> folders = new TreeSet<>();
    for (String name : entries.keySet()) {
      for (int slash = name.indexOf('/'); slash >= 0; slash = name.indexOf('/', slash + 1)) {
        folders.add(name.substring(0, slash + 1));
      }
    }
    return folders;
  }

  void writeTo(Path file) throws IOException {
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(file))) {
      zip.setLevel(Deflater.NO_COMPRESSION);
      // Some code lists folders of the class path.
      for (String folder : folders()) {
        zip.putNextEntry(new ZipEntry(folder));
        zip.closeEntry();
      }
      for (Map.Entry<String, byte[]> each : entries.entrySet()) {
        zip.putNextEntry(new ZipEntry(each.getKey()));
        zip.write(each.getValue());
        zip.closeEntry();
      }
    }
  }
}
