/** Layouts written by FormatsTest from src/main/formats/errno.txt: nobody edits them. */
@NullMarked
package dev.doorbell.core.hca.generated;

import org.jspecify.annotations.NullMarked;
