"""Actions: functions from a scene and a browser's message to a scene, by name; messages may hold anything. An action
that means nothing for its scene returns the scene unchanged; one that is impossible returns a notice that says why.
"""
