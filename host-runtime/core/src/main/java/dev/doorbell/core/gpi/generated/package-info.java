/** Layouts written by FormatsTest from src/main/formats/gpi.txt: nobody edits them. */
@NullMarked
package dev.doorbell.core.gpi.generated;

import org.jspecify.annotations.NullMarked;
