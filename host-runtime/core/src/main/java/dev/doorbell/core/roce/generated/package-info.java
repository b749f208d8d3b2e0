/** Layouts written by FormatsTest from src/main/formats/roce.txt: nobody edits them. */
@NullMarked
package dev.doorbell.core.roce.generated;

import org.jspecify.annotations.NullMarked;
