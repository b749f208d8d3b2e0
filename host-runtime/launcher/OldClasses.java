package dev.doorbell.launcher;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.constant.ClassDesc;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.LocalDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * Gives libraries' class files of versions below 50 (Java 5 and older) version 52 and stack maps. A
 * JVM's cache of classes leaves such files out, so that each start reads and verifies them anew:
 * 228 classes of the option parser are 0.15 s. Instructions stay as they are.
 */
public final class OldClasses {
  private static final int FIRST_WITH_STACK_MAPS = 50;
  private static final String CLASS = ".class";

  /** The time of each entry, so that two builds of one commit are equal to the byte. */
  private static final LocalDateTime WRITTEN = LocalDateTime.of(2026, 1, 1, 0, 0);

  private final Map<String, byte[]> entries;
  private final ClassFile writer;

  private OldClasses(Map<String, byte[]> entries) {
    this.entries = entries;
    writer =
        ClassFile.of(
            ClassFile.ClassHierarchyResolverOption.of(
                ClassHierarchyResolver.ofResourceParsing(this::find)
                    .orElse(ClassHierarchyResolver.defaultResolver())));
  }

  /** Rewrites those jars in a folder that have such classes; takes the folder's path. */
  public static void main(String[] words) throws IOException {
    List<Path> jars;
    try (Stream<Path> files = Files.list(Path.of(words[0]))) {
      jars = files.filter(file -> file.toString().endsWith(".jar")).toList();
    }
    for (Path jar : jars) {
      Map<String, byte[]> entries = read(jar);
      if (entries.entrySet().stream().anyMatch(OldClasses::isOld)) {
        new OldClasses(entries).write(jar);
      }
    }
  }

  private static Map<String, byte[]> read(Path jar) throws IOException {
    Map<String, byte[]> entries = new LinkedHashMap<>();
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      for (ZipEntry entry : (Iterable<ZipEntry>) zip.stream().map(ZipEntry.class::cast)::iterator) {
        if (!entry.isDirectory()) {
          entries.put(entry.getName(), zip.getInputStream(entry).readAllBytes());
        }
      }
    }
    return entries;
  }

  private static boolean isOld(Map.Entry<String, byte[]> entry) {
    return entry.getKey().endsWith(CLASS)
        && ByteBuffer.wrap(entry.getValue()).getShort(6) < FIRST_WITH_STACK_MAPS;
  }

  private InputStream find(ClassDesc type) {
    String descriptor = type.descriptorString();
    byte[] found = entries.get(descriptor.substring(1, descriptor.length() - 1) + CLASS);
    return found == null ? null : new ByteArrayInputStream(found);
  }

  private void write(Path jar) throws IOException {
    Path written = jar.resolveSibling(jar.getFileName() + ".new");
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(written))) {
      zip.setLevel(Deflater.BEST_SPEED);
      for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
        ZipEntry named = new ZipEntry(entry.getKey());
        named.setTimeLocal(WRITTEN);
        zip.putNextEntry(named);
        zip.write(isOld(entry) ? newer(entry.getValue()) : entry.getValue());
        zip.closeEntry();
      }
    }
    Files.move(written, jar, StandardCopyOption.REPLACE_EXISTING);
  }

  private byte[] newer(byte[] bytes) {
    ClassModel old = writer.parse(bytes);
    return writer.build(
        old.thisClass().asSymbol(),
        made ->
            old.forEach(
                element -> {
                  switch (element) {
                    case ClassFileVersion _ -> made.withVersion(ClassFile.JAVA_8_VERSION, 0);
                    case MethodModel method ->
                        made.transformMethod(
                            method, MethodTransform.transformingCode(CodeTransform.ACCEPT_ALL));
                    default -> made.with(element);
                  }
                }));
  }
}
