"""Seeing: coloured objects and looked-at surfaces, out of the pixels of an RGB-D image."""
