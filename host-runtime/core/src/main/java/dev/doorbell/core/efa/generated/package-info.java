/** Layouts written by FormatsTest from src/main/formats/efa.txt: nobody edits them. */
@NullMarked
package dev.doorbell.core.efa.generated;

import org.jspecify.annotations.NullMarked;
